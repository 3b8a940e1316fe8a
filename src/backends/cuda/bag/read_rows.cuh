// SPDX-License-Identifier: MIT
//
// How a thread reads its elements of a row. A reader belongs to a thread, which always has the same
// elements. load() only loads, so that several rows are in flight; decode() computes. pin() keeps
// the compiler from decoding all rows that are in flight before the first is needed, which takes
// more registers than there are.
#pragma once

#include "backends/cuda/bag/args.cuh"

namespace sheaf::cuda {

// Around L1: rows are not read again soon.
__device__ inline uint4 load_row_word(const std::byte* at) {
  uint4 word;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(at));
  return word;
}
__device__ inline uint2 load_row_half(const std::byte* at) {
  uint2 word;
  asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
               : "=r"(word.x), "=r"(word.y)
               : "l"(at));
  return word;
}

__device__ inline float f16_bits_as_float(uint32_t bits) {
  return __half2float(__ushort_as_half(static_cast<uint16_t>(bits)));
}

// Byte i of a word as a float: 2^23 + byte, less 2^23. A conversion instruction takes four times as
// long as both.
template <int kByte>
__device__ float byte_as_float(uint32_t word) {
  constexpr uint32_t kTwoTo23 = 0x4B00'0000;
  return __uint_as_float(__byte_perm(word, kTwoTo23, 0x7650 + kByte)) - __uint_as_float(kTwoTo23);
}

// Rows of floats: 16 bytes.
template <class T>
struct FloatReader {
  using Computed = float;
  using Raw = uint4;
  static constexpr int kElements = 16 / int{sizeof(T)};
  static constexpr int kRowsAhead = 6;
  const std::byte* from;

  __device__ FloatReader(const BagArgs& args, int64_t element)
      : from(args.data.stored + element * int64_t{sizeof(T)}) {}
  __device__ Raw load(int64_t place) const { return load_row_word(from + place); }
  __device__ static void pin(Raw& raw) {
    asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w));
  }
  __device__ static void decode(const Raw& raw, float (&row)[kElements]) {
    const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) {
        row[i] = __uint_as_float(words[i]);
      } else if constexpr (std::is_same_v<T, bfloat16>) {
        row[2 * i] = __uint_as_float(words[i] << 16);
        row[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF'0000U);
      } else {
        row[2 * i] = f16_bits_as_float(words[i] & 0xFFFF);
        row[2 * i + 1] = f16_bits_as_float(words[i] >> 16);
      }
    }
  }
};

// Rows of codes with their scale and bias: 8 bytes or 4 of codes.
template <Encoding kEncoding>
struct CodeReader {
  static constexpr bool kWideScale = kEncoding == Encoding::kRowU8F32;
  static constexpr bool kInFront = kEncoding == Encoding::kRowU8F16Front;
  static constexpr int kBits = code_bits(kEncoding);
  static constexpr int kCodeBytes = kWideScale ? 8 : 4;  // rows stand at multiples of this
  static constexpr int kElements = kCodeBytes * 8 / kBits;
  static constexpr int kRowsAhead = 6;
  using Computed = float;
  struct Raw {
    uint32_t codes[kCodeBytes / 4];
    uint32_t scale[kCodeBytes / 4];  // scale and bias
  };
  const std::byte* codes;
  const std::byte* scales;

  __device__ CodeReader(const BagArgs& args, int64_t element) {
    codes = args.data.stored + element * kBits / 8 + (kInFront ? 4 : 0);
    scales = args.data.stored + (kInFront ? 0 : args.nest.elements * kBits / 8);
  }
  __device__ Raw load(int64_t place) const {
    if constexpr (kWideScale) {
      const uint2 c = load_row_half(codes + place);
      const uint2 s = load_row_half(scales + place);
      return {{c.x, c.y}, {s.x, s.y}};
    } else {
      return {{__ldg(reinterpret_cast<const uint32_t*>(codes + place))},
              {__ldg(reinterpret_cast<const uint32_t*>(scales + place))}};
    }
  }
  __device__ static void pin(Raw& raw) {
#pragma unroll
    for (int i = 0; i < kCodeBytes / 4; ++i) {
      asm volatile("" : "+r"(raw.codes[i]), "+r"(raw.scale[i]));
    }
  }
  __device__ static void decode(const Raw& raw, float (&row)[kElements]) {
    float scale, bias;
    if constexpr (kWideScale) {
      scale = __uint_as_float(raw.scale[0]);
      bias = __uint_as_float(raw.scale[1]);
    } else {
      scale = f16_bits_as_float(raw.scale[0] & 0xFFFF);
      bias = f16_bits_as_float(raw.scale[0] >> 16);
    }
    if constexpr (kBits == 8) {
#pragma unroll
      for (int w = 0; w < kCodeBytes / 4; ++w) {
        row[4 * w] = byte_as_float<0>(raw.codes[w]);
        row[4 * w + 1] = byte_as_float<1>(raw.codes[w]);
        row[4 * w + 2] = byte_as_float<2>(raw.codes[w]);
        row[4 * w + 3] = byte_as_float<3>(raw.codes[w]);
      }
    } else {
      static_assert(kBits == 4);
      const uint32_t low = raw.codes[0] & 0x0F0F'0F0F;
      const uint32_t high = raw.codes[0] >> 4 & 0x0F0F'0F0F;
      row[0] = byte_as_float<0>(low), row[1] = byte_as_float<0>(high);
      row[2] = byte_as_float<1>(low), row[3] = byte_as_float<1>(high);
      row[4] = byte_as_float<2>(low), row[5] = byte_as_float<2>(high);
      row[6] = byte_as_float<3>(low), row[7] = byte_as_float<3>(high);
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      row[i] = row[i] * scale + bias;  // two roundings: products are not fused with sums
    }
  }
};

// One element of any encoding. Not inlined: one copy serves all kernels of a file.
__device__ __noinline__ inline float decoded_element(const EncodedRows& rows,
                                                     const EncodedMemory& memory, int64_t row,
                                                     int64_t element) {
  switch (rows.encoding) {
#define SHEAF_CASE(Name, name) \
  case Encoding::k##Name: return decoded<Encoding::k##Name>(rows, memory, row, element);
    SHEAF_ENCODINGS(SHEAF_CASE)
#undef SHEAF_CASE
    case Encoding::kPlain: break;
  }
  return 0;
}

// One element of any row, computed as a T. Places are numbers of entries.
template <class T>
struct AnyReader {
  using Computed = T;
  using Raw = T;
  static constexpr int kElements = 1;
  static constexpr int kRowsAhead = 4;
  const BagArgs& args;
  int64_t in_entry, in_row;  // the row of an entry, and the element of that row
  bool plain;

  __device__ AnyReader(const BagArgs& bag, int64_t element) : args(bag) {
    const EncodedRows& rows = bag.nest.rows;
    plain = rows.encoding == Encoding::kPlain;
    in_entry = plain || bag.nest.rows_per_entry == 1 ? 0 : element / rows.elements;
    in_row = element - in_entry * rows.elements;
  }
  __device__ Raw load(int64_t entry) const {
    const EncodedRows& rows = args.nest.rows;
    if (plain) {
      return plain_element(args.data.stored + entry * rows.row_stride +
                           in_row * rows.element_stride);
    }
    if constexpr (kHasWeights<T> && !std::is_same_v<T, double>) {
      return converted<T>(
          decoded_element(rows, args.data, entry * args.nest.rows_per_entry + in_entry, in_row));
    }
    return {};
  }
  __device__ static void pin(Raw&) {}
  __device__ static void decode(const Raw& raw, T (&row)[1]) { row[0] = raw; }

 private:
  __device__ T plain_element(const std::byte* at) const {
    if constexpr (kHasWeights<T> && !std::is_same_v<T, double>) {
      if (args.nest.rows.type.kind() != args.nest.computed.kind()) {
        switch (args.nest.rows.type.kind()) {
          case Kind::kFloat16: return converted<T>(read_as<float16>(at));
          case Kind::kBFloat16: return converted<T>(read_as<bfloat16>(at));
          case Kind::kFloat8E4M3: return converted<T>(read_as<float8_e4m3>(at));
          default: return converted<T>(read_as<float8_e5m2>(at));
        }
      }
    }
    return read_as<T>(at);
  }
};

}  // namespace sheaf::cuda

// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h). Plain loops, in
// which what elements share (a scale, a block's head) is read once: the compiler makes vectors of
// the rest.
#include "backends/cpu/bag/decode_run.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/bag/decode_run.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// What the codes of a block share: (code - zero) * scale, or code * scale + bias.
struct BlockScale {
  float scale, zero, bias;
};

BlockScale block_scale(const EncodedRows& rows, const EncodedMemory& memory, int64_t number) {
  BlockScale shared{1, rows.usual_zero, 0};
  shared.scale = rows.e8m0 ? power_of_two(stored_u8(memory.scales + number))
                           : stored_float(rows.scale_type, memory.scales, number);
  if (rows.adds_bias) {
    shared.bias = stored_float(rows.zero_type, memory.zeros, number);
  } else if (rows.has_zeros) {
    shared.zero = stored_zero(rows, memory.zeros, number);
  }
  return shared;
}

// Elements [e, e + count) of a row, all of one block. Whole bytes in the loop: each is read once,
// and the compiler sees which element is in which bits.
template <Encoding kEncoding, class Value>
void decode_codes(const std::byte* stored, int64_t e, int64_t count, const Value& value,
                  float* HWY_RESTRICT to) {
  constexpr int64_t kPerByte = kCodesPerByte<kEncoding>;
  int64_t i = 0;
  for (; i < count && (e + i) % kPerByte != 0; ++i) {
    to[i] = value(code_value<kEncoding>(stored, e + i));
  }
  const std::byte* const bytes = stored + (e + i) / kPerByte;
  const int64_t whole = (count - i) / kPerByte;
  float* HWY_RESTRICT const out = to + i;
  for (int64_t b = 0; b < whole; ++b) {
    for (int64_t k = 0; k < kPerByte; ++k) {
      out[b * kPerByte + k] = value(code_value<kEncoding>(bytes + b, k));
    }
  }
  for (i += whole * kPerByte; i < count; ++i) {
    to[i] = value(code_value<kEncoding>(stored, e + i));
  }
}

template <Encoding kEncoding>
inline constexpr bool kIsInteger =
    kEncoding >= Encoding::kU8&& kEncoding <= Encoding::kI2;  // codes are finite

// The same over several blocks. One division for all of them: blocks may be as short as 16.
template <Encoding kEncoding>
void decode_blocks(const EncodedRows& rows, const EncodedMemory& memory, int64_t row, int64_t e,
                   int64_t count, float* HWY_RESTRICT to) {
  const std::byte* const stored = memory.stored + row * rows.row_stride;
  const bool one_for_all = rows.element_step == 0;
  int64_t number = scale_number(rows, row, e);
  int64_t length = one_for_all ? count : rows.block_elements - e % rows.block_elements;
  for (int64_t i = 0; i < count; i += length, number += rows.element_step) {
    length = i == 0 ? length : rows.block_elements;
    length = std::min(length, count - i);
    const BlockScale shared = block_scale(rows, memory, number);
    if (rows.adds_bias) {
      decode_codes<kEncoding>(
          stored, e + i, length,
          [shared](float code) { return one_nan(code * shared.scale + shared.bias); }, to + i);
    } else if (kIsInteger<kEncoding> && std::isfinite(shared.scale)) {
      // A product of two finite numbers is a number.
      decode_codes<kEncoding>(
          stored, e + i, length,
          [shared](float code) { return (code - shared.zero) * shared.scale; }, to + i);
    } else {
      decode_codes<kEncoding>(
          stored, e + i, length,
          [shared](float code) { return one_nan((code - shared.zero) * shared.scale); }, to + i);
    }
  }
}

// Part of one row: elements [e, e + count).
template <Encoding kEncoding>
void decode_part(const EncodedRows& rows, const EncodedMemory& memory, int64_t row, int64_t e,
                 int64_t count, float* HWY_RESTRICT to) {
  const std::byte* const stored = memory.stored + row * rows.row_stride;
  if constexpr (has_scale_in_row(kEncoding)) {
    const RowScale shared = row_scale<kEncoding>(stored, rows.elements);
    const std::byte* const codes = stored + shared.codes;
    for (int64_t i = 0; i < count; ++i) {
      const float product = code_value<kEncoding>(codes, e + i) * shared.scale;
      to[i] = one_nan(product + shared.bias);
    }
  } else if constexpr (has_blocks(kEncoding)) {
    constexpr BlockShape kBlock = kBlockOf<kEncoding>;
    for (int64_t i = 0; i < count;) {
      const int64_t at = (e + i) % kBlock.elements;
      const int64_t length = std::min(count - i, kBlock.elements - at);
      const std::byte* const block = stored + (e + i) / kBlock.elements * kBlock.bytes;
      float whole[static_cast<size_t>(
          kBlock.elements)];  // nothing else points here, so the block's head is read once
      for (int k = 0; k < kBlock.elements; ++k) {
        whole[k] = one_nan(block_element<kEncoding>(block, k));
      }
      std::copy_n(whole + at, length, to + i);
      i += length;
    }
  } else {
    decode_blocks<kEncoding>(rows, memory, row, e, count, to);
  }
}

template <Encoding kEncoding>
void decode_run(const EncodedRows& rows, const EncodedMemory& memory, int64_t first, int64_t count,
                float* to) {
  int64_t row = first / rows.elements;
  int64_t e = first % rows.elements;
  while (count > 0) {
    const int64_t length = std::min(count, rows.elements - e);
    decode_part<kEncoding>(rows, memory, row, e, length, to);
    to += length;
    count -= length;
    e = 0;
    ++row;
  }
}

DecodeRun target_decoder(Encoding encoding) {
  return with_encoding(encoding,
                       []<Encoding kEncoding>() -> DecodeRun { return decode_run<kEncoding>; });
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_decoder);

DecodeRun decoder_for(Encoding encoding) { return HWY_DYNAMIC_DISPATCH(target_decoder)(encoding); }

}  // namespace sheaf::cpu
#endif

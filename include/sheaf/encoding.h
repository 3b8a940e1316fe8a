// SPDX-License-Identifier: MIT
//
// Tables whose elements are stored in a few bits. An encoded tensor is described, never converted
// as a whole: a gather or a bag decodes the rows that it fetches. docs/bags.md has the table.
//
//   const sheaf::EncodedSpec int8_rows = sheaf::encoded_rows(sheaf::Encoding::kRowU8F32, {1000,
//   64});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sheaf/dtype.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

// How an element is stored. Codes of less than a byte are packed along the last dimension, the
// first in the lowest bits; rows begin at whole bytes.
enum class Encoding : uint8_t {
  kPlain,  // elements of a DType
  // Codes, with scales (and zero points or biases) in tensors of their own.
  kU8,
  kI8,
  kU4,
  kI4,
  kU2,
  kI2,
  kF8E4M3,      // "fn": no infinities
  kF8E4M3Fnuz,  // no infinities, one NaN, no negative zero
  kF8E5M2,
  kF8E5M2Fnuz,
  kF4E2M1,
  // Unsigned codes with the row's scale and bias in the row: value = code * scale + bias.
  kRowU8F32,       // both f32, behind the codes (PyTorch's embedding_bag_byte_prepack)
  kRowU8F16Front,  // both f16, in front (FBGEMM)
  kRowU4F16,       // both f16, behind the codes (PyTorch's embedding_bag_4bit_prepack)
  kRowU2F16,       // (embedding_bag_2bit_prepack)
  // Blocks of GGUF files.
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ4K,
  kQ5K,
  kQ6K,
};

std::string_view to_string(Encoding encoding);  // "plain", "u4", "row_u8_f32", "q4_k", …
// The encoding named `name`. Throws on an unknown name.
Encoding encoding_from_name(const std::string& name);

// An encoded tensor without its memory.
struct EncodedSpec {
  Encoding encoding = Encoding::kPlain;
  Dims sizes = {};         // of the decoded tensor
  TensorSpec stored = {};  // kPlain: the tensor; else bytes (u8): `sizes` with the bytes of a row
                           // in place of the last. The bytes of a row lie side by side, and rows at
                           // one distance.
  // Of codes: one scale per `block` elements along `axis` (0: per all of them), in sizes of its
  // own: those of the tensor with as many entries along `axis` as there are blocks; or one scale in
  // all.
  std::optional<TensorSpec> scales = {};  // f32, f16, bf16, f8e4m3, or u8 (e8m0: a power of two)
  // In the sizes of the scales. Floats are biases (code * scale + bias); integers zero points
  // ((code - zero) * scale): u8, or i8 for signed ones; packed like the codes where those have less
  // than 8 bits.
  std::optional<TensorSpec> zeros = {};
  int64_t block = 0;
  int64_t axis = -1;
  int64_t usual_zero = 0;  // the zero point where there are no `zeros`

  EncodedSpec() = default;
  EncodedSpec(const TensorSpec& plain) : sizes(plain.sizes), stored(plain) {}
  std::string str() const;  // "row_u8_f32[1000, 64]"
};

// Rows that hold all they need (kRow…, kQ…), without gaps.
EncodedSpec encoded_rows(Encoding encoding, const Dims& sizes);

// Bytes that `elements` of a row take up. Throws where the encoding has no such rows: a length that
// is no whole number of blocks, kPlain.
int64_t encoded_row_bytes(Encoding encoding, int64_t elements);

// An encoded tensor and where its parts are.
struct Encoded {
  EncodedSpec spec;
  const void* stored = nullptr;
  const void* scales = nullptr;
  const void* zeros = nullptr;

  Encoded() = default;
  Encoded(const ConstTensor& plain) : spec(plain.spec), stored(plain.data) {}
  Encoded(const Tensor& plain) : spec(plain.spec), stored(plain.data) {}
  Encoded(EncodedSpec described, const void* bytes, const void* scale_memory = nullptr,
          const void* zero_memory = nullptr)
      : spec(std::move(described)), stored(bytes), scales(scale_memory), zeros(zero_memory) {}
};

}  // namespace sheaf

#pragma GCC visibility pop

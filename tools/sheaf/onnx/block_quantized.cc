// SPDX-License-Identifier: MIT
//
// com.microsoft.GatherBlockQuantized: rows of codes, of their scales and of their zero points are
// gathered, then decoded. By its description an index out of range gives zeros.
#include "frontends/onnx/block_quantized.h"
#include "onnx/call.h"
#include "plan/decode.h"
#include "sheaf/encoded_gather.h"
#include "sheaf/move.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

enum Input : size_t { kCodes, kIndices, kScales, kZeros };

// The table that the node gathers from. Codes of 4 bits take a byte each, once they are read.
onnx::QuantizedTable quantized_of(const Call& call) {
  const onnx::BlockQuantized usual;
  return in_words_of_node(call.node, [&] {
    const Value& codes = call.input(kCodes);
    onnx::QuantizedTable q =
        onnx::quantized_table({.gather_axis = call.number("gather_axis", usual.gather_axis),
                               .quantize_axis = call.number("quantize_axis", usual.quantize_axis),
                               .block_size = call.number("block_size", usual.block_size),
                               .bits = call.number("bits", usual.bits)},
                              codes.dtype(), codes.sizes());
    const Value& scales = call.input(kScales);
    onnx::check_scales(q, TensorSpec(scales.dtype(), scales.sizes()));
    if (call.has(kZeros)) {
      onnx::check_zeros(q, call.input(kZeros).dtype(), call.input(kZeros).sizes());
    }
    if (q.type != u8) {
      q.encoding = q.type == i4 ? Encoding::kI8 : q.type == u4 ? Encoding::kU8 : q.encoding;
    }
    return q;
  });
}

// Elements of i4 as i8: what is above their four bits is their sign.
void extend_signs(Array& array) {
  auto* const elements = static_cast<uint8_t*>(array.tensor().data);
  const int64_t count = array.spec().dtype == i4 ? element_count(array.sizes()) : 0;
  for (int64_t e = 0; e < count; ++e) {
    elements[e] = static_cast<uint8_t>(signed_code<4>(elements[e] & 15U));
  }
}

// Rows of one of the three tensors: from its file, if it is still there.
Array rows_of(const Call& call, size_t input, int axis, int64_t fill) {
  const GatherOptions options{.axis = axis,
                              .rule = {.out_of_range = OutOfRange::kFill, .fill_value = fill}};
  const ConstTensor indices = call.tensor(kIndices);
  const Table* table = call.input(input).table();
  Array rows = table ? gather(*table, indices, options, call.options)
                     : gather(call.tensor(input), indices, options);
  extend_signs(rows);
  return rows;
}

Array whole(const Call& call, size_t input) {
  const ConstTensor from = call.tensor(input);
  Array copied(TensorSpec(from.spec.dtype, from.spec.sizes));
  copy(from, copied.tensor());
  extend_signs(copied);
  return copied;
}

// Codes, scales and zero points with the memory that a description of them needs.
struct Parts {
  Array codes, scales;
  std::optional<Array> zeros;

  Encoded encoded(const onnx::QuantizedTable& q, const Dims& sizes, int axis) const {
    EncodedSpec spec;
    spec.encoding = q.encoding;
    spec.sizes = sizes;
    spec.stored = TensorSpec(u8, codes.sizes());
    spec.scales = scales.spec();
    spec.block = q.block;
    spec.axis = axis;
    spec.usual_zero = q.usual_zero;
    if (zeros) {
      spec.zeros = TensorSpec(q.encoding == Encoding::kI8 ? i8 : u8, zeros->sizes());
    }
    return {spec, codes.tensor().data, scales.tensor().data,
            zeros ? zeros->tensor().data : nullptr};
  }
};

// An index that is a block's too cannot be used up before the blocks are decoded.
Array gathered_along_blocks(const Call& call, const onnx::QuantizedTable& q, DType type) {
  Parts parts{whole(call, kCodes), whole(call, kScales), std::nullopt};
  if (call.has(kZeros)) {
    parts.zeros.emplace(whole(call, kZeros));
  }
  const GatherOptions options{.axis = q.gather_axis,
                              .rule = {.out_of_range = OutOfRange::kFill, .fill_value = 0}};
  return gather_encoded(parts.encoded(q, q.sizes, q.axis), call.tensor(kIndices), options, type);
}

// A code that decodes to zero, so often as a byte has codes.
int64_t zero_byte(const onnx::QuantizedTable& q) {
  int64_t byte = 0;
  for (int64_t i = 0; i < q.per_byte; ++i) {
    byte |= q.usual_zero << (i * 8 / q.per_byte);
  }
  return byte;
}

Array gathered_rows(const Call& call, const onnx::QuantizedTable& q, DType type) {
  const int64_t fill = call.has(kZeros) ? 0 : zero_byte(q);
  Parts parts{rows_of(call, kCodes, q.gather_axis, fill), rows_of(call, kScales, q.gather_axis, 0),
              std::nullopt};
  if (call.has(kZeros)) {
    parts.zeros.emplace(rows_of(call, kZeros, q.gather_axis, 0));
  }
  // The indices' dimensions stand where the axis was.
  const int grown = call.input(kIndices).sizes().size() - 1;
  const int axis = q.axis > q.gather_axis ? q.axis + grown : q.axis;
  Dims sizes = parts.codes.sizes();
  sizes.back() *= q.per_byte;      // above 1 only where the last axis is not gathered along
  const std::vector<int64_t> all;  // a gather_nd by one tuple without components takes everything
  return gather_encoded(parts.encoded(q, sizes, axis), view(all), GatherNdOptions{}, type);
}

Outputs run_gather_block_quantized(const Call& call) {
  const onnx::QuantizedTable q = quantized_of(call);
  const DType type = call.input(kScales).dtype();
  Values values = call.values;  // with scales that stretch along an axis as often as they are meant
  Value& scales = values.at(call.node.inputs[kScales]);
  if (scales.sizes() != q.scales) {
    Array stretched(TensorSpec(type, q.scales));
    copy(scales.tensor(), stretched.tensor());
    scales = Value(std::move(stretched));
  }
  const Call own{call.node, values, call.options};
  Outputs outputs;
  outputs.emplace_back(q.gather_axis == q.axis ? gathered_along_blocks(own, q, type)
                                               : gathered_rows(own, q, type));
  return outputs;
}

constexpr Operator kMicrosoft[] = {
    {"GatherBlockQuantized", run_gather_block_quantized},
};

}  // namespace

std::span<const Operator> microsoft_operators() { return kMicrosoft; }

}  // namespace sheaf::cli

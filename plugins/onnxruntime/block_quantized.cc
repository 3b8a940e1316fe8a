// SPDX-License-Identifier: MIT
#include "block_quantized.h"

#include "frontends/onnx/bad_node.h"
#include "frontends/onnx/block_quantized.h"
#include "kept_plans.h"
#include "sheaf/encoded_gather.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::ort {
namespace {

constexpr int kVersions[] = {1};
constexpr ElementType kStored[] = {kUint8, kUint4, kInt4};
constexpr ElementType kDecoded[] = {kFloat, kFloat16, kBfloat16};
constexpr ElementType kIndexTypes[] = {kInt32, kInt64};
constexpr Constraint kConstraints[] = {{"T1", kStored}, {"T2", kDecoded}, {"Tind", kIndexTypes}};
constexpr KnownAttribute kAttributes[] = {{"gather_axis", kIntAttribute},
                                          {"quantize_axis", kIntAttribute},
                                          {"block_size", kIntAttribute},
                                          {"bits", kIntAttribute}};

// Null for types that the operator's kernel is not registered for.
std::optional<DType> code_type(ElementType type) {
  switch (type) {
    case kUint8: return u8;
    case kUint4: return u4;
    case kInt4: return i4;
    default: return std::nullopt;
  }
}

// Tensors of 4-bit elements are packed without regard to rows; ours begin at whole bytes.
bool rows_begin_at_bytes(const Dims& sizes) {
  if (sizes.empty() || sizes.back() < 0) {
    return false;
  }
  bool one_row = true;
  for (int d = 0; d + 1 < sizes.size(); ++d) {
    one_row = one_row && sizes[d] == 1;
  }
  return sizes.back() % 2 == 0 || one_row;
}

// The bytes of a tensor of 4-bit elements.
TensorSpec bytes_of(const Input& tensor) {
  if (tensor.type == kUint8) {
    return {u8, tensor.sizes};
  }
  if (!rows_begin_at_bytes(tensor.sizes)) {
    throw onnx::BadNode(cat("rows of ", bracketed(tensor.sizes), " do not begin at whole bytes"),
                        "rows of an even length");
  }
  Dims sizes = tensor.sizes;
  sizes[sizes.size() - 1] = pieces_of(tensor.sizes.back(), 2);
  return {u8, sizes};
}

template <class Node>
onnx::BlockQuantized attributes_of(const Node& node) {
  const onnx::BlockQuantized usual;
  return {.gather_axis = node.number("gather_axis", usual.gather_axis),
          .quantize_axis = node.number("quantize_axis", usual.quantize_axis),
          .block_size = node.number("block_size", usual.block_size),
          .bits = node.number("bits", usual.bits)};
}

// The encoded tensor that the node's inputs are. `zeros` may be null.
EncodedSpec encoded_spec(const onnx::BlockQuantized& attributes, const Input& data,
                         const Input& scales, const Input* zeros) {
  const onnx::QuantizedTable table =
      onnx::quantized_table(attributes, code_type(data.type).value_or(opaque(1)), data.sizes);
  onnx::check_scales(table, scales.spec());
  EncodedSpec spec;
  spec.encoding = table.encoding;
  spec.sizes = table.sizes;
  spec.stored = bytes_of(data);
  spec.scales = scales.spec();
  if (zeros != nullptr) {
    onnx::check_zeros(table, code_type(zeros->type).value_or(opaque(1)), zeros->sizes);
    spec.zeros = bytes_of(*zeros);
    spec.zeros->dtype = zeros->type == kInt4 ? i8 : u8;  // signed zero points with signed codes
  }
  spec.block = table.block;
  spec.axis = table.axis;
  spec.usual_zero = table.usual_zero;
  return spec;
}

class BlockQuantizedKernel final : public Kernel {
 public:
  explicit BlockQuantizedKernel(const MakeKernel& made)
      : Kernel(made.node.api()),
        attributes_(attributes_of(made.node)),
        output_is_fresh_(!made.caller_sees_output) {}

  void run(const Context& context) override {
    Input inputs[4] = {context.input(0), context.input(1), context.input(2), {}};
    const std::optional<Input> zeros = context.optional_input(3);
    if (zeros.has_value()) {
      inputs[3] = *zeros;
    }
    const auto plan = plans_.find(inputs, [&] {
      const Input* const given = zeros.has_value() ? &inputs[3] : nullptr;
      // By the operator's description an index out of range gives zeros, unlike Gather's.
      const GatherOptions options{.axis = attributes_.gather_axis,
                                  .rule = {.out_of_range = OutOfRange::kFill, .fill_value = 0}};
      const EncodedSpec table = in_words_of("GatherBlockQuantized", [&] {
        return encoded_spec(attributes_, inputs[0], inputs[2], given);
      });
      return plan_gather_encoded(table, inputs[1].spec(), options, inputs[2].spec().dtype);
    });
    void* const output = context.output(plan->output().sizes);
    plan->run({.stored = inputs[0].data,
               .scales = inputs[2].data,
               .zeros = inputs[3].data,
               .indices = inputs[1].data,
               .output = output},
              {.output_is_fresh = output_is_fresh_});
  }

 private:
  onnx::BlockQuantized attributes_;
  bool output_is_fresh_;
  KeptPlans<EncodedGatherPlan> plans_;
};

}  // namespace

constinit const std::span<const int> kBlockQuantizedVersions = kVersions;
constinit const std::span<const Constraint> kBlockQuantizedConstraints = kConstraints;
constinit const std::span<const KnownAttribute> kBlockQuantizedAttributes = kAttributes;

bool takes_block_quantized(const OfferedNode& node) {
  if (node.inputs.size() < 3 || !node.inputs[0].sizes.has_value()) {
    return false;
  }
  const NodeValue& data = node.inputs[0];
  const std::optional<DType> type = code_type(data.type);
  try {
    onnx::quantized_table(attributes_of(node), type.value_or(opaque(1)), *data.sizes);
  } catch (const onnx::BadNode&) {
    return false;
  }
  const NodeValue* const zeros =
      node.inputs.size() > 3 && node.inputs[3].type != kUndefined ? &node.inputs[3] : nullptr;
  return type == u8 ||
         (rows_begin_at_bytes(*data.sizes) &&
          (zeros == nullptr || (zeros->sizes.has_value() && rows_begin_at_bytes(*zeros->sizes))));
}

std::unique_ptr<Kernel> make_block_quantized(const MakeKernel& made) {
  return std::make_unique<BlockQuantizedKernel>(made);
}

}  // namespace sheaf::ort

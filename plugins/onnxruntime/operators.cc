// SPDX-License-Identifier: MIT
#include "operators.h"

#include <algorithm>
#include <cstring>

#include "block_quantized.h"
#include "neighbours.h"
#include "planned_kernel.h"
#include "sheaf/error.h"
#include "sheaf/gather.h"
#include "sheaf/scatter.h"

namespace sheaf::ort {
namespace {

constexpr ElementType kMoved[] = {kString, kFloat,     kUint8,      kInt8,    kUint16, kInt16,
                                  kInt32,  kInt64,     kBool,       kFloat16, kDouble, kUint32,
                                  kUint64, kComplex64, kComplex128, kBfloat16};
constexpr ElementType kIndex32And64[] = {kInt32, kInt64};

constexpr Constraint kMovedAndEither[] = {{"T", kMoved}, {"Tind", kIndex32And64}};
constexpr Constraint kMovedAlone[] = {{"T", kMoved}};  // the index type is no constraint there

constexpr KnownAttribute kAxis[] = {{"axis", kIntAttribute}};
constexpr KnownAttribute kBatchDims[] = {{"batch_dims", kIntAttribute}};
constexpr KnownAttribute kAxisAndReduction[] = {{"axis", kIntAttribute},
                                                {"reduction", kStringAttribute}};
constexpr KnownAttribute kReduction[] = {{"reduction", kStringAttribute}};

constexpr int kGatherVersions[] = {1, 11, 13};
constexpr int kGatherElementsVersions[] = {11, 13};
constexpr int kGatherNdVersions[] = {11, 12, 13};
constexpr int kOldScatterVersions[] = {9};  // ScatterElements before it was called so
constexpr int kScatterVersions[] = {11, 13, 16, 18};

constexpr int kOldSliceVersions[] = {1};  // whose lists are attributes
constexpr int kSliceVersions[] = {10, 11, 13};
constexpr int kOneHotVersions[] = {9, 11};
constexpr KnownAttribute kSliceLists[] = {
    {"starts", kIntsAttribute}, {"ends", kIntsAttribute}, {"axes", kIntsAttribute}};
constexpr ElementType kIntegers[] = {kUint8, kInt8,  kUint16, kInt16,
                                     kInt32, kInt64, kUint32, kUint64};
constexpr ElementType kNumbers[] = {kUint8, kInt8,   kUint16, kInt16,   kInt32, kInt64,
                                    kFloat, kUint32, kUint64, kFloat16, kDouble};
constexpr Constraint kOneHotTypes[] = {{"T1", kIntegers}, {"T2", kNumbers}, {"T3", kMoved}};

bool takes_all(const OfferedNode&) { return true; }

std::optional<Reduction> reduction_named(const std::string& name) {
  for (const Reduction reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kMul, Reduction::kMin, Reduction::kMax}) {
    if (name == to_string(reduction)) {
      return reduction;
    }
  }
  return std::nullopt;
}

// The kernel is only made for names that takes_scatter() has let pass.
Reduction reduction_of(const NodeInfo& node) {
  const std::string name = node.text("reduction", "none");
  const std::optional<Reduction> reduction = reduction_named(name);
  if (!reduction.has_value()) {
    throw Failure(kNotImplemented, "Sheaf: no reduction '" + name + "'");
  }
  return *reduction;
}

// A plan of one element says whether the type has the reduction.
bool takes_scatter(const OfferedNode& node) {
  const std::optional<Reduction> reduction = reduction_named(node.text("reduction", "none"));
  if (!node.inputs.empty() && node.inputs[0].type == kString) {
    return reduction == Reduction::kNone;
  }
  const std::optional<DType> type =
      node.inputs.empty() ? std::nullopt : dtype_of_element(node.inputs[0].type);
  if (!reduction.has_value() || !type.has_value()) {
    return false;
  }
  try {
    const TensorSpec one(*type, {1});
    plan_scatter_elements(one, TensorSpec(i64, {1}), one, {.reduction = *reduction});
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<Kernel> make_gather(const MakeKernel& made) {
  const GatherOptions options{.axis = made.node.number("axis", 0)};
  return std::make_unique<PlannedKernel>(
      made,
      [options](std::span<const TensorSpec> specs) {
        return plan_gather(specs[0], specs[1], options);
      },
      2);
}

std::unique_ptr<Kernel> make_gather_elements(const MakeKernel& made) {
  const GatherElementsOptions options{.axis = made.node.number("axis", 0)};
  return std::make_unique<PlannedKernel>(
      made,
      [options](std::span<const TensorSpec> specs) {
        return plan_gather_elements(specs[0], specs[1], options);
      },
      2);
}

std::unique_ptr<Kernel> make_gather_nd(const MakeKernel& made) {
  const GatherNdOptions options{.batch_dims = made.node.number("batch_dims", 0)};
  return std::make_unique<PlannedKernel>(
      made,
      [options](std::span<const TensorSpec> specs) {
        return plan_gather_nd(specs[0], specs[1], options);
      },
      2);
}

std::unique_ptr<Kernel> make_scatter_elements(const MakeKernel& made) {
  const ScatterElementsOptions options{.axis = made.node.number("axis", 0),
                                       .reduction = reduction_of(made.node)};
  return std::make_unique<PlannedKernel>(
      made,
      [options](std::span<const TensorSpec> specs) {
        return plan_scatter_elements(specs[0], specs[1], specs[2], options);
      },
      3);
}

std::unique_ptr<Kernel> make_scatter_nd(const MakeKernel& made) {
  const ScatterNdOptions options{.reduction = reduction_of(made.node)};
  return std::make_unique<PlannedKernel>(
      made,
      [options](std::span<const TensorSpec> specs) {
        return plan_scatter_nd(specs[0], specs[1], specs[2], options);
      },
      3);
}

const Operator kOperators[] = {
    {"Gather", "", kGatherVersions, kMovedAndEither, kAxis, false, false, takes_all, make_gather},
    {"GatherElements", "", kGatherElementsVersions, kMovedAndEither, kAxis, false, false, takes_all,
     make_gather_elements},
    {"GatherND", "", kGatherNdVersions, kMovedAlone, kBatchDims, false, false, takes_all,
     make_gather_nd},
    {"Scatter", "", kOldScatterVersions, kMovedAndEither, kAxis, true, false, takes_scatter,
     make_scatter_elements},
    {"ScatterElements", "", kScatterVersions, kMovedAndEither, kAxisAndReduction, true, false,
     takes_scatter, make_scatter_elements},
    {"ScatterND", "", kScatterVersions, kMovedAlone, kReduction, true, false, takes_scatter,
     make_scatter_nd},
    {"GatherBlockQuantized", "com.microsoft", kBlockQuantizedVersions, kBlockQuantizedConstraints,
     kBlockQuantizedAttributes, false, false, takes_block_quantized, make_block_quantized},
    {"Slice", "", kOldSliceVersions, kMovedAlone, kSliceLists, false, true, takes_slice,
     make_slice},
    {"Slice", "", kSliceVersions, kMovedAndEither, {}, false, true, takes_slice, make_slice},
    {"OneHot", "", kOneHotVersions, kOneHotTypes, kAxis, false, true, takes_one_hot, make_one_hot},
};

bool knows(const Operator& op, const NodeAttribute& attribute) {
  return std::any_of(op.attributes.begin(), op.attributes.end(), [&](const KnownAttribute& known) {
    return attribute.name == known.name && attribute.type == known.type;
  });
}

}  // namespace

std::span<const Operator> operators() { return kOperators; }

const Operator* operator_for(const OfferedNode& node) {
  const auto op =
      std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& o) {
        return node.op == o.name && node.domain == o.domain &&
               std::all_of(node.attributes.begin(), node.attributes.end(),
                           [&](const NodeAttribute& attribute) { return knows(o, attribute); });
      });
  return op != std::end(kOperators) && op->takes(node) ? op : nullptr;
}

}  // namespace sheaf::ort

// SPDX-License-Identifier: MIT
//
// Gradients of bags: what is refused.
#include "plan/bag_gradient.h"

#include <algorithm>

#include "plan/byte_ranges.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

constexpr std::string_view kGradientNames[] = {"rows", "data", "weights"};

bool is_gradient_type(DType type) {
  return type == f32 || type == f64 || type == f16 || type == bf16;
}

void check_gradient(const BagRequest& r, const BagPlan& bag, BagGradientOf of) {
  if (static_cast<size_t>(of) >= std::size(kGradientNames)) {
    refuse(r, {Reason::kOption}, "unknown option",
           cat("of = ", static_cast<int>(of), ", but 0..", std::size(kGradientNames) - 1,
               " has a meaning"),
           "rows, data or weights");
  }
  const BagNest& nest = bag.nest();
  if (nest.pool == Pool::kMul) {
    refuse(r, {Reason::kGradient}, "no gradient of this pool",
           "under pool = mul a row's gradient is made of all the others",
           "pool = sum, mean, sqrtn, max or min");
  }
  if (!is_gradient_type(nest.output_type)) {
    refuse(r, {Reason::kGradient}, "no gradient of this type",
           cat("the bag's output is ", nest.output_type.name()),
           "an output of f32, f64, f16 or bf16");
  }
  if (of == BagGradientOf::kWeights && !nest.weighted) {
    refuse(r, {Reason::kGradient, "weights"}, "no weights", "this bag has none to have a gradient",
           "a bag with weights");
  }
}

// A tensor of the caller's in the sizes and type that are wanted.
void check_spec(const BagRequest& r, const char* name, const TensorSpec& got,
                const TensorSpec& wanted) {
  if (got.dtype != wanted.dtype || got.sizes != wanted.sizes ||
      got.strides.size() != got.sizes.size()) {
    refuse(r, {Reason::kShape, name, -1, got.sizes, wanted.sizes}, cat(name, " does not fit"),
           cat(name, " is ", got.str(), ", but this gradient wants ", wanted.dtype.name(),
               bracketed(wanted.sizes)),
           cat("a tensor of ", wanted.dtype.name(), bracketed(wanted.sizes)));
  }
  if (!byte_range(got)) {
    refuse(r, {Reason::kTooLarge, name}, "tensor too large",
           cat("the strides of ", name, " reach further than 2^63 - 1 bytes"),
           "check how the strides were computed");
  }
}

void check_rows_run(const BagRequest& r, const char* name, const TensorSpec& spec) {
  if (!plain_rows(spec)) {
    refuse(r, {Reason::kStrides, name}, "rows are not at one distance",
           cat("the strides of ", name,
               " behind its first dimension are no single run: ", bracketed(spec.strides)),
           cat("a contiguous ", name));
  }
}

// As many rows as can be named, or the shape that the gradient has.
TensorSpec usual_output(const BagRequest& r, const BagPlan& bag, BagGradientOf of) {
  const BagNest& nest = bag.nest();
  if (of == BagGradientOf::kWeights) {
    return {r.specs.weights->dtype, r.specs.weights->sizes};
  }
  Dims sizes = r.specs.data.sizes;
  sizes[0] = of == BagGradientOf::kRows ? std::min(nest.entries, nest.extent) : nest.extent;
  // The elements of the table were counted by the bag.
  if (!checked_mul(sizes[0] * nest.elements, nest.output_type.bytes())) {
    refuse(r, {Reason::kTooLarge, "output"}, "tensor too large",
           cat("a gradient of ", sizes[0], " rows has more than 2^63 - 1 bytes"),
           "check how the shape was computed");
  }
  return {nest.output_type, sizes};
}

void check_written(const BagRequest& r, const TensorSpec& output, BagGradientOf of) {
  if (of != BagGradientOf::kWeights) {
    check_rows_run(r, "output", output);
  }
  if (!elements_disjoint(output)) {
    refuse(
        r, {Reason::kStrides, "output"}, "output strides do not fit",
        cat("output has strides ", bracketed(output.strides), ", by which elements share memory"),
        "a contiguous output");
  }
}

BagRequest renamed(const BagPlan& bag) {
  BagRequest request = bag.request();
  request.name = "bag_gradient";
  request.output.reset();  // it is no tensor of this call
  return request;
}

}  // namespace

std::string_view to_string(BagGradientOf of) {
  const auto number = static_cast<size_t>(of);
  return number < std::size(kGradientNames) ? kGradientNames[number] : "?";
}

BagRequest gradient_request(const BagGradientPlan& plan) { return renamed(plan.bag()); }

BagGradientPlan plan_bag_gradient(const BagPlan& bag, BagGradientOf of,
                                  const BagGradientOptions& options) {
  const BagRequest request = renamed(bag);
  check_gradient(request, bag, of);
  const TensorSpec gradient(bag.output().dtype, bag.output().sizes);
  const TensorSpec output = usual_output(request, bag, of);
  BagGradientPlan plan(bag);
  plan.of_ = of;
  plan.options_ = options;
  plan.options_.gradient = options.gradient.value_or(gradient);
  plan.options_.output = options.output.value_or(output);
  check_spec(request, "gradient", plan.gradient(), gradient);
  check_rows_run(request, "gradient", plan.gradient());
  if (of == BagGradientOf::kRows && options.output) {
    refuse(request, {Reason::kOption, "output"}, "rows are written side by side",
           "only the entries say how many there are", "no output in the options");
  }
  if (options.add && of != BagGradientOf::kData) {
    refuse(request, {Reason::kOption}, "nothing to add to",
           cat("add is for the gradient of data, not of ", to_string(of)), "add = false");
  }
  check_spec(request, "output", plan.output(), output);
  check_written(request, plan.output(), of);
  return plan;
}

// bag_gradient of rows, sum in f32, rows of 64 f32
//   for r in the rows that entries name, ascending
//     for p with indices[p] = r
//       row = gradient[bag of p] * weights[p] / rows of the bag
//     output <- sum of rows
std::string BagGradientPlan::str() const {
  const BagNest& nest = bag_.nest();
  std::string text =
      cat("bag_gradient of ", to_string(of_), ", ", to_string(nest.pool), " in ",
          nest.computed.name(), ", rows of ", nest.elements, " ", nest.output_type.name(), "\n");
  const std::string_view divisor = nest.pool == Pool::kMean    ? " / rows of the bag"
                                   : nest.pool == Pool::kSqrtN ? " / root of the rows of the bag"
                                                               : "";
  const std::string_view where = nest.pool == Pool::kMax   ? ", where it is the first largest"
                                 : nest.pool == Pool::kMin ? ", where it is the first smallest"
                                                           : "";
  if (of_ == BagGradientOf::kWeights) {
    return cat(text, "  for p in 0..", nest.entries, "\n    for e in 0..", nest.elements, where,
               "\n      product = gradient[bag of p, e] * data[indices[p], e]\n",
               "    output[p] <- sum of products", divisor, "\n");
  }
  text += of_ == BagGradientOf::kRows
              ? std::string("  for r in the rows that entries name, ascending\n")
              : cat("  for r in 0..", nest.extent, "\n");
  return cat(text, "    for p with ", nest.indexed ? "indices[p]" : "p", " = r", where,
             "\n      row = gradient[bag of p]", nest.weighted ? " * weights[p]" : "", divisor,
             "\n    output ", options_.add ? "+= " : "<- ", "sum of rows\n");
}

}  // namespace sheaf

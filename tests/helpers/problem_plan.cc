// SPDX-License-Identifier: MIT
#include "helpers/problem_plan.h"

#include <cstring>
#include <span>
#include <stdexcept>

using oracle::Op;
using oracle::Problem;
using oracle::Wide;

namespace {

sheaf::XlaGatherOptions xla_options(const Problem& p, const sheaf::IndexRule& rule) {
  return {.offset_dims = as_dims(p.offset_dims),
          .collapsed_slice_dims = as_dims(p.collapsed_slice_dims),
          .operand_batching_dims = as_dims(p.operand_batching_dims),
          .start_indices_batching_dims = as_dims(p.start_indices_batching_dims),
          .start_index_map = as_dims(p.start_index_map),
          .index_vector_dim = p.index_vector_dim,
          .slice_sizes = as_dims(p.slice_sizes),
          .rule = rule};
}

template <class T>
void write_as(Wide value, std::byte* element) {
  const T typed = static_cast<T>(value);
  std::memcpy(element, &typed, sizeof typed);
}

}  // namespace

sheaf::Dims as_dims(const std::vector<int64_t>& values) {
  return sheaf::Dims(std::span<const int64_t>(values));
}

std::vector<int64_t> as_vector(const sheaf::Dims& dims) { return {dims.begin(), dims.end()}; }

sheaf::Plan plan_of(const Problem& p, const Tensors& t) {
  const sheaf::IndexRule rule{p.negative, p.out_of_range, t.fill_value};
  const auto plan = [&](auto make, const auto& options) {
    return t.output == nullptr ? make(t.data, t.indices, options)
                               : make(t.data, t.indices, *t.output, options);
  };
  switch (p.op) {
    case Op::kGather:
      return plan([](const auto&... a) { return sheaf::plan_gather(a...); },
                  sheaf::GatherOptions{p.axis, p.batch_dims, rule});
    case Op::kGatherElements:
      return plan([](const auto&... a) { return sheaf::plan_gather_elements(a...); },
                  sheaf::GatherElementsOptions{p.axis, p.broadcast, rule});
    case Op::kGatherNd:
      return plan([](const auto&... a) { return sheaf::plan_gather_nd(a...); },
                  sheaf::GatherNdOptions{p.batch_dims, rule});
    case Op::kXlaGather:
      return plan([](const auto&... a) { return sheaf::plan_xla_gather(a...); },
                  xla_options(p, rule));
  }
  throw std::logic_error("unknown operator");
}

sheaf::Plan scatter_plan_of(const Problem& p, const ScatterTensors& t,
                            const oracle::Joining& joining) {
  const auto plan = [&](auto make, auto options) {
    options.rule = {p.negative, p.out_of_range, {}};
    options.reduction = joining.reduction;
    options.include_self = joining.include_self;
    options.onto_zeros = joining.onto_zeros;
    return t.output == nullptr ? make(t.data, t.indices, t.updates, options)
                               : make(t.data, t.indices, t.updates, *t.output, options);
  };
  switch (p.op) {
    case Op::kGather:
      return plan([](const auto&... a) { return sheaf::plan_scatter(a...); },
                  sheaf::ScatterOptions{.axis = p.axis, .batch_dims = p.batch_dims});
    case Op::kGatherElements:
      return plan([](const auto&... a) { return sheaf::plan_scatter_elements(a...); },
                  sheaf::ScatterElementsOptions{.axis = p.axis});
    case Op::kGatherNd:
      return plan([](const auto&... a) { return sheaf::plan_scatter_nd(a...); },
                  sheaf::ScatterNdOptions{.batch_dims = p.batch_dims});
    case Op::kXlaGather:
      return plan([](const auto&... a) { return sheaf::plan_xla_scatter(a...); },
                  sheaf::XlaScatterOptions{
                      .update_window_dims = as_dims(p.offset_dims),
                      .inserted_window_dims = as_dims(p.collapsed_slice_dims),
                      .input_batching_dims = as_dims(p.operand_batching_dims),
                      .scatter_indices_batching_dims = as_dims(p.start_indices_batching_dims),
                      .scatter_dims_to_operand_dims = as_dims(p.start_index_map),
                      .index_vector_dim = p.index_vector_dim,
                      .skip_whole_window = p.skip_whole_window});
  }
  throw std::logic_error("unknown operator");
}

Wide smallest(sheaf::DType type) {
  return type.is_signed_integer() ? -(Wide{1} << (8 * type.bytes() - 1)) : 0;
}

Wide largest(sheaf::DType type) {
  const int64_t bits = 8 * type.bytes() - (type.is_signed_integer() ? 1 : 0);
  return (Wide{1} << bits) - 1;
}

void write_index(sheaf::DType type, Wide value, std::byte* element) {
  if (value < smallest(type) || value > largest(type)) {
    throw std::out_of_range("the index type does not hold this value");
  }
  // Two's complement: the low bytes are the same for the signed and the unsigned type.
  switch (type.bytes()) {
    case 1: return write_as<uint8_t>(value, element);
    case 2: return write_as<uint16_t>(value, element);
    case 4: return write_as<uint32_t>(value, element);
    default: return write_as<uint64_t>(value, element);
  }
}

std::vector<std::string> accepting_kernels(const sheaf::Plan& plan) {
  std::vector<std::string> names;
  for (const std::string& backend : sheaf::backend_names()) {
    for (const auto& kernel : sheaf::kernels_for(plan, {.kernel = backend})) {
      if (kernel.can_run) {
        names.push_back(kernel.name);
      }
    }
  }
  return names;
}

// SPDX-License-Identifier: MIT
#include <algorithm>

#include "answers.h"
#include "pictures/element_text.h"
#include "pictures/scene.h"
#include "plan/lower.h"
#include "plan/resolve.h"
#include "plan/scalar.h"

namespace sheaf::web {

Literal counting(const TensorSpec& spec, int64_t first, int64_t step) {
  const auto count = static_cast<size_t>(element_count(spec.sizes));
  const auto bytes = static_cast<size_t>(spec.dtype.bytes());
  Literal values(count * bytes);
  for (size_t e = 0; e < count; ++e) {
    const int64_t value = first + static_cast<int64_t>(e) * step;
    const int64_t fitting = spec.dtype == boolean ? value / std::max<int64_t>(step, 1) % 2
                                                  : value % (spec.dtype.bytes() == 1 ? 100 : 10000);
    encode(Scalar(fitting), spec.dtype, values.data() + e * bytes);  // opaque elements stay 0
  }
  return values;
}

Json tensor_json(const char* name, const TensorSpec& spec, const Literal* values, bool given) {
  Json json = {{"name", name},
               {"dtype", spec.dtype.name()},
               {"sizes", std::vector<int64_t>(spec.sizes.begin(), spec.sizes.end())},
               {"count", element_count(spec.sizes)},
               {"given", given}};
  if (values != nullptr) {
    Json texts = Json::array();
    const auto bytes = static_cast<size_t>(spec.dtype.bytes());
    for (size_t at = 0; at + bytes <= values->size(); at += bytes) {
      texts.push_back(pictures::element_text(spec.dtype, values->data() + at));
    }
    json["values"] = std::move(texts);
  }
  return json;
}

Call read_call(std::string_view text) {
  Problem problem = parse_problem(text);
  Plan plan = make_plan(problem.request);
  const Request& r = plan.request();
  Call call{std::move(problem), std::move(plan), false, {}, {}, {}};
  call.drawn = is_drawn(r.data) && is_drawn(r.indices) && is_drawn(r.grid());
  if (!call.drawn) {
    return call;
  }
  call.data = call.problem.data ? *call.problem.data : counting(r.data, 0, 1);
  const auto made_up = [&] {
    return pictures::example_indices(call.plan, kMostDrawn).value_or(counting(r.indices, 0, 0));
  };
  call.indices = call.problem.indices ? *call.problem.indices : made_up();
  if (is_scatter(r.op)) {
    call.updates = call.problem.updates ? *call.problem.updates : counting(r.updates, 10, 10);
  }
  return call;
}

Json tensors_json(const Call& call, const Literal* output) {
  const Request& r = call.plan.request();
  const auto values = [&](const Literal& literal) { return call.drawn ? &literal : nullptr; };
  Json list = Json::array();
  list.push_back(tensor_json("data", r.data, values(call.data), call.problem.data.has_value()));
  list.push_back(
      tensor_json("indices", r.indices, values(call.indices), call.problem.indices.has_value()));
  if (is_scatter(r.op)) {
    list.push_back(
        tensor_json("updates", r.updates, values(call.updates), call.problem.updates.has_value()));
  }
  list.push_back(tensor_json("output", r.output, output, false));
  return list;
}

std::vector<int64_t> out_of_range_indices(const Call& call) {
  const Request& r = call.plan.request();
  const Nest& nest = call.plan.nest();
  const int dim = tuple_dim(r);
  const int64_t step = dim < 0 ? 1 : contiguous_strides(r.indices.sizes)[dim];
  const int64_t length = dim < 0 ? 1 : r.indices.sizes[dim];
  std::vector<int64_t> outside;
  const int64_t count = element_count(r.indices.sizes);
  with_index_type(r.indices.dtype, [&](auto zero) {
    for (int64_t e = 0; e < count; ++e) {
      const auto component = static_cast<int>(e / step % length);
      const auto value = load_index<decltype(zero)>(call.indices.data(), e);
      if (in_range_or_outside(value, nest.coordinates[component].extent, nest.negative) ==
          kOutside) {
        outside.push_back(e);
      }
    }
  });
  return outside;
}

Literal run_call(const Call& call) {
  const TensorSpec& spec = call.plan.output();
  Literal output(static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes()));
  if (call.plan.is_scatter()) {
    call.plan.run(call.data.data(), call.indices.data(), call.updates.data(), output.data());
  } else {
    call.plan.run(call.data.data(), call.indices.data(), output.data());
  }
  return output;
}

}  // namespace sheaf::web

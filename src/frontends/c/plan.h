// SPDX-License-Identifier: MIT
//
// What is behind a sheaf_plan, and the two ways of every operator: one call, or a plan.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "frontends/c/boundary.h"
#include "frontends/c/request.h"
#include "sheaf/c.h"

namespace sheaf {

// Made when first asked for.
struct PlanTexts {
  std::mutex mutex;
  std::string str, json;
};

}  // namespace sheaf

struct sheaf_plan {
  sheaf::Plan plan;
  DLDataType dtype;  // of all tensors but indices, as the caller spells it
  mutable sheaf::PlanTexts texts = {};
};

namespace sheaf {

[[noreturn]] void refuse_null(std::string_view call, const char* argument, const char* next);

// The caller's options, of whatever version of their struct, onto zeros. Version 0.1 had `first`
// bytes of them, `known` bytes are known here; fields that are not have to be 0. Refuses sizes that
// no version has had.
void copy_options(void* to, const void* options, size_t first, size_t known);

// What version 0.1 had of the options.
template <class Options>
constexpr size_t first_size() {
  if constexpr (requires(Options options) { options.accumulate_f32; }) {
    return offsetof(Options, accumulate_f32);
  } else {
    return sizeof(Options);
  }
}

template <class Options>
Options or_defaults(const Options* options) {
  Options result = {};
  if (options != nullptr) {
    copy_options(&result, options, first_size<Options>(), sizeof result);
  }
  return result;
}
// XLA's operators have no shape without their options.
sheaf_xla_gather_options or_defaults(const sheaf_xla_gather_options* options);
sheaf_xla_scatter_options or_defaults(const sheaf_xla_scatter_options* options);

void run_call(const CCall& call);

template <class Options>
sheaf_status run_once(const CTensors& tensors, const Options* options) {
  return at_c_boundary([&] { run_call(read_call(tensors, or_defaults(options))); });
}

// The place for a new plan, set to null. Refuses null.
sheaf_plan*& required_place(sheaf_plan** plan);

template <class Options>
sheaf_status make_c_plan(const CTensors& tensors, const Options* options, sheaf_plan** plan) {
  return at_c_boundary([&] {
    sheaf_plan*& place = required_place(plan);
    const CCall call = read_call(tensors, or_defaults(options));
    place = new sheaf_plan{make_plan(call.request), call.dtype};
  });
}

}  // namespace sheaf

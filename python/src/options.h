// SPDX-License-Identifier: MIT
//
// Keywords into options.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "numpy_api.h"
#include "plan/request.h"
#include "sheaf/index_rule.h"

namespace sheaf::python {

namespace nb = nanobind;

// The keywords that gather, gather_elements and gather_nd share.
struct RuleKeywords {
  std::string_view out_of_range;
  std::string_view negative;
  nb::handle fill_value;
};

// The keywords of all three; each function sets those it has.
struct GatherKeywords {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool broadcast = false;
  RuleKeywords rule;
};

// The keywords of the scatters; each function sets those it has.
struct ScatterKeywords {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  std::string_view reduction = "none";
  bool include_self = true;
  bool relaxed = false;
  std::string_view out_of_range = "fail";
  std::string_view negative = "from_end";
};

// A request without its tensors. `descr`: the NumPy dtype of data, or null; it tells what a
// fill_value that is a date becomes.
Request request_from(Op op, const GatherKeywords& keywords, PyArray_Descr* descr);

// `descr`: that of data, or null; dates have no arithmetic here.
Request request_from(Op op, const ScatterKeywords& keywords, PyArray_Descr* descr);

// NumPy's mode= of take.
IndexRule rule_from_mode(std::string_view mode);

// An axis that may also be None, which it is not here.
int64_t integer_from(nb::handle object);

// Refuses a negative number of threads.
int checked_threads(int threads);

}  // namespace sheaf::python

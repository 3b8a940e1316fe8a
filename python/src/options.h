// SPDX-License-Identifier: MIT
//
// Keywords of the Python functions into the options of a request.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "numpy_api.h"
#include "plan/request.h"
#include "sheaf/index_rule.h"

namespace sheaf::python {

namespace nb = nanobind;

// The keywords of all gathers; each function sets those it has.
struct GatherKeywords {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool broadcast = false;
  std::string_view out_of_range = "fail";
  std::string_view negative = "from_end";
  nb::handle fill_value = {};
};

// The keywords of all scatters; each function sets those it has.
struct ScatterKeywords {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  std::string_view reduction = "none";
  bool include_self = true;
  bool relaxed = false;
  std::string_view out_of_range = "fail";
  std::string_view negative = "from_end";
};

// The dimension numbers of XLA's general gather, by its names; a scatter has others for the same
// things, and its slice sizes follow from its updates.
struct XlaNumbers {
  std::vector<int64_t> offset_dims;
  std::vector<int64_t> collapsed_slice_dims;
  std::vector<int64_t> operand_batching_dims;
  std::vector<int64_t> start_indices_batching_dims;
  std::vector<int64_t> start_index_map;
  int64_t index_vector_dim = 0;
  std::vector<int64_t> slice_sizes;
};

Op op_from_name(std::string_view name);  // "gather", "scatter_nd", …

// A request without its tensors. `descr`: the NumPy dtype of data, or null; it says what a
// fill_value that is a date becomes.
Request request_from(Op op, const GatherKeywords& keywords, PyArray_Descr* descr);

// `descr`: that of data, or null; dates have no arithmetic here.
Request request_from(Op op, const ScatterKeywords& keywords, PyArray_Descr* descr);

std::shared_ptr<const XlaGatherOptions> xla_options_from(const XlaNumbers& numbers);

// NumPy's mode= of take.
IndexRule rule_from_mode(std::string_view mode);

// An axis that may also be None, which it is not here.
int64_t integer_from(nb::handle object);

// The limit for a call: `threads`, or where that is 0 the one of this thread or of the process; 0:
// none. Refuses a negative one.
int thread_limit(int threads);

// Sets the limit of the process, or of the calling thread (-1: none of its own), and returns the
// one before.
int set_process_threads(int threads);
int set_own_threads(int threads);

}  // namespace sheaf::python

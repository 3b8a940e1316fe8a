// SPDX-License-Identifier: MIT
//
// One call from Python: keywords into a request, tensors and the request into a plan, and the plan
// run with the GIL released, where its arrays are.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "plan/request.h"
#include "sheaf/index_rule.h"

namespace sheaf::python {

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
  std::string_view accumulate = "";  // "f32": see ScatterOptions::accumulate_f32
  std::string_view out_of_range = "fail";
  std::string_view negative = "from_end";
};

// What accumulate = "f32" means to an operator of PyTorch: in f32 if elements are narrower floats,
// else in their own type.
inline void accumulate_where_narrow(Request& request, DType type) {
  const bool narrow = type == f16 || type == bf16 || type == f8e4m3 || type == f8e5m2;
  request.accumulate_f32 = request.accumulate_f32 && narrow;
}

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

Negative negative_from(std::string_view name);

// A number of Python, NumPy, PyTorch or JAX. `descr`: see set_options().
Scalar scalar_from(nb::handle value, PyArray_Descr* descr);

// Refuses elements of NumPy's that can be moved, but not computed with: dates, other byte orders.
// `option` and its value are what asks for the arithmetic.
void refuse_arithmetic(std::string_view call, std::string_view option, std::string_view value,
                       PyArray_Descr* descr);

// Sets the options of a request by its keywords. `descr`: the NumPy dtype of data, or null. It says
// what a fill_value that is a date becomes, and which elements cannot be reduced.
void set_options(Request& request, const GatherKeywords& keywords, PyArray_Descr* descr);
void set_options(Request& request, const ScatterKeywords& keywords, PyArray_Descr* descr);

XlaGatherOptions xla_options_from(const XlaNumbers& numbers);

// Each word for a reduction, also those of other libraries, and its name here.
nb::dict reductions();

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

struct Call {
  explicit Call(Op op) : request(request_from(op)) {}

  Request request;
  int threads = 0;
  bool overlap_allowed = false;      // an output that overlaps an input is written by a detour
  bool scalar_result = false;        // NumPy: a result without dimensions is a scalar
  std::string_view index_hint = {};  // what the caller of this function can do about a bad index
};

// The arrays of a call.
struct Arrays {
  View data;
  View indices;
  View updates;  // of a scatter
  View out;      // of no meaning if `passed_out` is None: then the result is a new array
  nb::object passed_out;
  Placement placement;

  // The one whose library, device and dtype the result has.
  const View& kind() const { return data.object.is_valid() ? data : updates; }
};

// What the caller passed. Gathers leave `updates` out, scatters onto zeros `data`.
struct Passed {
  nb::handle data, indices;
  nb::handle out;  // or None
  nb::handle updates = {};
  bool inside_operator = false;  // PyTorch's dispatcher calls, and takes care of gradients
};

// Refuses arrays that are not all in one place.
Arrays view_arrays(std::string_view call, const Passed& passed);

// Makes the call one on bytes, where elements are larger than the library's largest. To be called
// before anything looks at the shapes of `arrays`.
void spread_large_elements(Request& request, Arrays& arrays);

// Where the elements of a run are.
struct Memory {
  const void* data;
  const void* indices;
  const void* updates;  // of a scatter
  void* output;
};

// Runs the plan, on a GPU in the order of the stream of `placement`. `fresh`: the output is
// discarded if the run fails. `last_check`, if there is one, is called when no code of the caller
// can run any more.
void run_at(const Placement& placement, const Plan& plan, const Memory& memory, int threads,
            bool fresh, const std::function<void()>& last_check);

// Runs the call on the arrays, which its request gets as tensors, and returns the result: `out`
// itself, or a new array of data's kind.
nb::object execute(Call& call, const Arrays& arrays);

// Runs a plan made earlier on arrays that must be laid out as it says. Data may be None if the plan
// scatters onto zeros.
nb::object execute(const Plan& plan, const Passed& passed, int threads);

struct KnownPlan {
  Request asked;
  Plan plan;
  ByteRange data, indices, updates, output;
};

// The plan for `request`, refusals translated. Recent plans of this thread are kept, for a call in
// a loop asks for the same one again and again.
std::shared_ptr<const KnownPlan> plan_for(const Request& request);

// The tensors of `request`, but for the output, are those of the arrays.
void set_inputs(Request& request, const Arrays& arrays);

}  // namespace sheaf::python

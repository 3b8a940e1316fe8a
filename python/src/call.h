// SPDX-License-Identifier: MIT
//
// One call from Python: tensors and options into a plan, and the plan run with the GIL released,
// where its arrays are.
#pragma once

#include <memory>
#include <string_view>

#include "arrays.h"
#include "plan/request.h"

namespace sheaf::python {

struct Call {
  Request request;  // the options; its tensors are those of the arrays
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

// Runs the call and returns the result: `out` itself, or a new array of data's kind.
nb::object execute(const Call& call, const Arrays& arrays);

// Runs a plan made earlier on arrays that must be laid out as it says. Data may be None if the plan
// scatters onto zeros.
nb::object execute(const Plan& plan, const Passed& passed, int threads);

// The tensors of a plan; without `output` it is contiguous.
struct Tensors {
  const TensorSpec& data;
  const TensorSpec& indices;
  const TensorSpec& updates;  // of no meaning to a gather
  const TensorSpec* output = nullptr;
};

struct KnownPlan {
  Request asked;
  Plan plan;
  ByteRange data, indices, updates, output;
};

// The plan for the options of `request` and these tensors, refusals translated. Recent plans of
// this thread are kept, for a call in a loop asks for the same one again and again.
std::shared_ptr<const KnownPlan> plan_for(const Request& request, const Tensors& tensors);

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// Bags: keywords into a request, arrays and the request into a plan, and the plan run where its
// arrays are.
#pragma once

#include <functional>
#include <string_view>

#include "call.h"
#include "encoded.h"
#include "plan/bag.h"

namespace sheaf::python {

// The keywords of a bag; None where they are left out.
struct BagKeywords {
  std::string_view pool = "sum";
  std::string_view form = "offsets";
  bool last_offset = false;
  int64_t bags = -1;
  nb::handle padding_index = {};
  nb::handle empty_value = {};
  std::string_view accumulate = "f32";  // "": in the type of the output
  nb::handle dtype = {};
  std::string_view out_of_range = "fail";
  std::string_view negative = "from_end";
  nb::handle fill_value = {};
};

// `descr`: the NumPy dtype of plain data, or null.
BagOptions bag_options(std::string_view call, const BagKeywords& keywords, PyArray_Descr* descr);

// The plan, refusals translated.
BagPlan bag_plan(const BagRequest& request);

// What weights that are lists or numbers become: products are computed in f32, or f64.
Elements weights_of(const EncodedSpec& data);

// What the caller passed; None where the bag has no such array.
struct BagPassed {
  nb::handle data, indices, segments, weights, out;
  bool inside_operator = false;  // PyTorch's dispatcher calls, and takes care of gradients
};

struct BagArrays {
  TableViews data;
  View indices, segments, weights, out;
  Placement placement;

  BagSpecs specs() const;
  BagMemory memory(void* output) const;
};

// Refuses arrays that are not all in one place.
void view_bag(BagArrays& arrays, std::string_view call, const BagPassed& passed);

// Refuses arrays that code of the caller has changed since they were read.
void refuse_changed(const BagArrays& arrays, std::string_view call);

// Runs the plan, on a GPU in the order of the stream of `placement`; see run_at() of call.h.
void run_bag_at(const Placement& placement, const BagPlan& plan, const BagMemory& memory,
                int threads, bool fresh, const std::function<void()>& last_check);

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// What the page is told about a call. Everything in it comes from the library: the page draws, and
// computes no shape, index or value.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/bag.h"
#include "problem/bag_text.h"
#include "problem/problem.h"
#include "sheaf/explain.h"
#include "sheaf/plan.h"

namespace sheaf::web {

using Json = nlohmann::ordered_json;

// Tensors with more elements are planned, but neither filled with values nor drawn.
inline constexpr int64_t kMostDrawn = 16384;
// A step takes about 100 bytes of JSON.
inline constexpr int64_t kMostSteps = 4096;

// A call whose tensors have values: those given, and made-up ones for the others.
struct Call {
  Problem problem;
  Plan plan;
  bool drawn;  // false: too large, there are no values
  Literal data, indices, updates;
};

inline bool is_drawn(const TensorSpec& spec) { return element_count(spec.sizes) <= kMostDrawn; }

// Made-up values: counting from `first` in steps of `step`, small enough for every type.
Literal counting(const TensorSpec& spec, int64_t first, int64_t step);

// Name, type, sizes and, where there are any, values.
Json tensor_json(const char* name, const TensorSpec& spec, const Literal* values, bool given);

// Parses and plans. Throws Error.
Call read_call(std::string_view problem);

// {"op": "gather", "axis": 0, …}: the request as the plan keeps it.
Json call_json(const Request& request);

// Name, type, sizes and values of each tensor; `output` is null if the call was refused.
Json tensors_json(const Call& call, const Literal* output);

// Element numbers of the indices that are out of range under the call's `negative` rule.
std::vector<int64_t> out_of_range_indices(const Call& call);

// Runs the plan on the reference backend. Throws IndexError as the library does.
Literal run_call(const Call& call);

// What each point of the plan's loop nest reads and writes, in the order of the loops.
Json steps_json(const Call& call);

// What the cpu backend's kernels answer, in its order. The backend itself is not in this build.
std::vector<KernelReport> cpu_kernels(const Plan& plan);

// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

// A bag whose tensors have values: those given, and made-up ones for the others.
struct BagCall {
  BagText text;
  BagPlan plan;
  bool drawn;  // false: too large, there are no values
  Literal data, scales, zeros, indices, segments, weights;

  BagMemory memory() const;
};

BagCall read_bag(std::string_view problem);
Literal run_bag(const BagCall& call);

// Each entry that is read, decoded, weighted and added to its bag, and each bag that is finished.
Json bag_steps_json(const BagCall& call, const Literal& output);

// The rows of data as they are decoded, each as the texts of its elements.
std::vector<std::string> decoded_texts(const BagCall& call);

// Everything about one bag.
Json bag_json(std::string_view problem);

// Where the rows of a table that lies anywhere go, and the picture of it.
Json table_json(std::string_view problem);

// Everything about one call, one bag or one table.
Json explain_json(std::string_view problem);

// Whether two calls are the same plan, else the first thing that differs.
Json compare_json(std::string_view a, std::string_view b);

Json error_json(const std::exception& error);

}  // namespace sheaf::web

// SPDX-License-Identifier: MIT
//
// The moves of sheaf/move.h on arrays of the host. sheaf/_moves.py makes the outputs and has the
// signatures that users see.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "sheaf/move.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

// What a move is called with, and what it answers.
struct MoveCall {
  std::vector<ConstTensor> from = {};
  std::vector<Tensor> to = {};
  Dims dims;  // repeats, or padding in front
  int64_t axis = 0;
  bool largest = true;
  PadMode mode = PadMode::kEdge;
  int64_t count = 0;  // the answer of nonzero
};

struct Move {
  size_t inputs, outputs;  // 0: any number
  std::function<void(MoveCall&)> run;
};

const std::map<std::string, Move>& moves() {
  static const std::map<std::string, Move> table = {
      {"copy", {1, 1, [](MoveCall& c) { copy(c.from[0], c.to[0]); }}},
      {"cast", {1, 1, [](MoveCall& c) { cast(c.from[0], c.to[0]); }}},
      {"tile", {1, 1, [](MoveCall& c) { tile(c.from[0], c.to[0], c.dims); }}},
      {"pad", {1, 1, [](MoveCall& c) { pad(c.from[0], c.to[0], c.dims, c.mode); }}},
      {"concat", {0, 1, [](MoveCall& c) { join(c.from, c.axis, c.to[0]); }}},
      {"split", {1, 0, [](MoveCall& c) { split(c.from[0], c.axis, c.to); }}},
      {"reverse_subsequences",
       {2, 1, [](MoveCall& c) { reverse_subsequences(c.from[0], c.from[1], c.to[0], c.axis); }}},
      {"one_hot", {2, 1, [](MoveCall& c) { one_hot(c.from[0], c.from[1], c.to[0], c.axis); }}},
      {"top_k", {1, 2, [](MoveCall& c) { top_k(c.from[0], c.to[0], c.to[1], c.axis, c.largest); }}},
      {"nonzero", {1, 1, [](MoveCall& c) { c.count = nonzero(c.from[0], c.to[0]); }}},
  };
  return table;
}

// A move copies bytes, and a cast converts numbers: what NumPy's dtype makes of them has to be the
// same on both sides, or a number.
void refuse_other_meanings(const std::string& call, const std::vector<View>& from,
                           const std::vector<View>& to) {
  const auto is_date = [](const View& view) {
    return view.descr() != nullptr && PyTypeNum_ISDATETIME(view.descr()->type_num);
  };
  for (const auto* views : {&from, &to}) {
    for (const View& view : *views) {
      refuse_large_elements(view);
      if (call == "cast" && is_date(view)) {
        raise_dtype(refusal_text("cast: dates are not numbers",
                                 "the unit of a date is not converted",
                                 "x.astype(dtype), or x.view(numpy.int64) for the bare numbers"));
      }
    }
  }
  const View& like = call == "one_hot" ? from[1] : from[0];
  const auto check = [&](const View& view) {
    if (!same_meaning(like, view)) {
      raise_dtype(refusal_text(cat(call, ": dtypes differ"),
                               "the bytes of one array would mean something else in another",
                               "arrays of one dtype; x.astype(dtype) converts"));
    }
  };
  if (call == "concat") {
    std::for_each(from.begin(), from.end(), check);
  }
  if (call != "cast" && call != "nonzero") {
    check(to[0]);  // of top_k the second are places
  }
}

// The arrays of a list as tensors; the views keep their memory.
void read_arrays(const std::string& call, Role role, const nb::list& objects,
                 std::vector<View>& views) {
  views.resize(nb::len(objects));
  for (size_t i = 0; i < views.size(); ++i) {
    view_array(views[i], objects[i], {call, role});
    if (views[i].on_gpu() || !views[i].whole_strides) {
      raise_unsupported(refusal_text(cat(call, ": not an array of the host"),
                                     "it lies on a GPU, or its strides are not whole elements",
                                     "arrays in the memory of the host"));
    }
  }
}

void refuse_other_count(const std::string& call, const char* what, size_t wanted, size_t given) {
  if (wanted != 0 && given != wanted) {
    raise_argument(refusal_text(cat(call, ": wrong number of arrays"),
                                cat(given, " ", what, ", but the move has ", wanted),
                                "the functions of sheaf, which pass what a move takes"));
  }
}

int64_t run_move(const std::string& call, const nb::list& inputs, const nb::list& outputs,
                 const std::vector<int64_t>& dims, int64_t axis, const std::string& mode,
                 bool largest) {
  const std::map<std::string, PadMode> modes = {{"edge", PadMode::kEdge},
                                                {"reflect", PadMode::kReflect},
                                                {"symmetric", PadMode::kSymmetric},
                                                {"wrap", PadMode::kWrap}};
  const auto move = moves().find(call);
  const auto pad_mode = modes.find(mode);
  if (move == moves().end() || pad_mode == modes.end()) {
    raise_argument(refusal_text(cat(call, ": unknown move or mode"), cat("mode = \"", mode, "\""),
                                "edge, reflect, symmetric, wrap or constant"));
  }
  refuse_other_count(call, "inputs", move->second.inputs, nb::len(inputs));
  refuse_other_count(call, "outputs", move->second.outputs, nb::len(outputs));
  std::vector<View> from, to;
  read_arrays(call, Role::kData, inputs, from);
  read_arrays(call, Role::kOutput, outputs, to);
  if (!from.empty() && !to.empty()) {
    refuse_other_meanings(call, from, to);
  }
  MoveCall arguments{.dims = Dims(std::span<const int64_t>(dims)),
                     .axis = axis,
                     .largest = largest,
                     .mode = pad_mode->second};
  for (const View& view : from) {
    refuse_if_changed(view, call);
    arguments.from.push_back(view.tensor);
  }
  for (const View& view : to) {
    refuse_if_changed(view, call);
    arguments.to.push_back(view.tensor);
  }
  without_gil([&] { move->second.run(arguments); });
  return arguments.count;
}

}  // namespace

void bind_moves(nb::module_& module) {
  module.def("move", run_move,
             nb::sig("def move(call: str, inputs: list[Any], outputs: list[Any], dims: list[int], "
                     "axis: int, mode: str, largest: bool) -> int"));
}

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// The neighbours of gathers and scatters: operators that move data along fixed paths, or change its
// type on the way. Most are a few plans; a copy is a gather without indices, so every backend runs
// it. Each function here checks its arguments, makes the plans, and returns what is to be done with
// memory. include/sheaf/move.h says what each of them computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "sheaf/move.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"
#include "sheaf/tensor.h"

namespace sheaf::moves {

// Works on memory of the queue, laid out as the specs said, and returns when done. The same Work
// may run in many threads at once.
struct Work {
  using Run = std::function<void(std::span<const void* const> inputs,
                                 std::span<void* const> outputs, const Queue& queue)>;
  Run run;
  bool only_plans = false;  // true: any queue will do; otherwise the host's

  void operator()(std::span<const void* const> inputs, std::span<void* const> outputs,
                  const Queue& queue = {}) const {
    run(inputs, outputs, queue);
  }
};

// Runs a plan on the queue and waits for it.
void run_plan(const Plan& plan, const void* data, const void* indices, void* output,
              const Queue& queue);
void run_plan(const Plan& plan, const void* data, const void* indices, const void* updates,
              void* output, const Queue& queue);

// Throws kInvalidArgument in the four lines of an error.
struct Problem {
  const char* who;
  std::string what, detail, given, next;
};
[[noreturn]] void refuse(const Problem& problem);

// inputs {from}, outputs {to}
Work copy(const char* who, const TensorSpec& from, const TensorSpec& to);
Work tile(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& repeats);
Work slice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
           const Dims& steps);
// The other way round: `to` is `value`, except where the slice of it is: there it is `from`.
Work unslice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
             const Dims& steps, const Scalar& value);
Work pad(const char* who, const TensorSpec& from, const TensorSpec& to, PadMode mode,
         const Dims& before, const Scalar& value);
Work cast(const char* who, const TensorSpec& from, const TensorSpec& to);
// to = from * scale + bias, computed in double and rounded once; integers are truncated.
Work scale(const char* who, const TensorSpec& from, const TensorSpec& to, double scale,
           double bias);

// inputs {}, outputs {to}
Work fill(const char* who, const TensorSpec& to, const Scalar& value);
Work sequence(const char* who, const TensorSpec& to, const Scalar& start, const Scalar& delta);

// inputs as many as `from`, outputs {to}; and the reverse
Work join(const char* who, std::span<const TensorSpec> from, const TensorSpec& to, int64_t axis);
Work split(const char* who, const TensorSpec& from, std::span<const TensorSpec> to, int64_t axis);

// inputs {from, lengths}, outputs {to}
Work reverse_subsequences(const char* who, const TensorSpec& from, const TensorSpec& lengths,
                          const TensorSpec& to, int64_t axis);

// inputs {indices, off and on}, outputs {to}; off_on[0] and off_on[1] are two elements
Work one_hot(const char* who, const TensorSpec& indices, const TensorSpec& off_on,
             const TensorSpec& to, int64_t axis);

// inputs {from}, outputs {count, coordinates}. `coordinates` has a row for each element of `from`;
// a row holds the last columns of the coordinates, one for each dimension.
Work nonzero(const char* who, const TensorSpec& from, const TensorSpec& count,
             const TensorSpec& coordinates);

// inputs {from}, outputs {values, indices}
Work top_k(const char* who, const TensorSpec& from, const TensorSpec& values,
           const TensorSpec& places, int64_t axis, bool largest);

}  // namespace sheaf::moves

// SPDX-License-Identifier: MIT
//
// A Plan is one gather or scatter, decided: validated, lowered to a loop nest and normalised, so
// that calls which move the same bytes are the same plan whatever their names. It is immutable and
// may be run many times, from many threads.
//
//   for every point p of the loops, in order:
//     at = Σ p·loop.data + Σ_c rule(indices[Σ p·loop.index + c.offset], c.extent) · c.stride
//     gather:   output[Σ p·loop.output .. + row_bytes) = data[at .. + row_bytes)
//     scatter:  data[at .. + row_bytes) (reduce)= updates[Σ p·loop.output .. + row_bytes)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sheaf/dtype.h"
#include "sheaf/fixed.h"
#include "sheaf/index_rule.h"
#include "sheaf/reduction.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

// One dimension of the nest with its three strides: data and output in bytes, index in elements.
// In a scatter `output` walks the updates, and `data` the tensor that is written.
struct Loop {
  int64_t extent, data, index, output;
  // Not 0: this is a scatter's window of which single elements may lie outside. The loop's position
  // is added to the index of coordinate `window` - 1 before the range is looked at; `data` is 0.
  int64_t window;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// One component of an index tuple: valid values are [0, extent), each worth `stride` bytes of data;
// it stands `offset` index elements after the tuple's first.
struct Coordinate {
  int64_t extent, stride, offset;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

// One dimension of the walk over all index tuples, for checking them: stride in index elements.
struct IndexLoop {
  int64_t extent, stride;
  friend bool operator==(const IndexLoop&, const IndexLoop&) = default;
};

// Everything a kernel needs, and nothing else. Loops run outermost first.
struct Nest {
  Fixed<Loop> loops;
  Fixed<Coordinate> coordinates;
  Fixed<IndexLoop> index_loops;
  int64_t row_bytes = 0;      // what one point moves
  int64_t element_bytes = 0;  // a row is whole elements; fill_value is one
  DType index_type;
  Negative negative = Negative::kFromEnd;
  OutOfRange out_of_range = OutOfRange::kFail;
  std::byte fill_value[kMaxElementBytes] = {};
  bool scatters = false;
  Reduction reduction = Reduction::kNone;        // of a scatter
  DType element_type = DType(Kind::kOpaque, 1);  // what a reduction computes with; opaque if none

  bool empty() const;  // nothing to move (there may still be indices to check)
  friend bool operator==(const Nest& a, const Nest& b);
};

// Bytes [lo, hi) relative to a tensor's data pointer; lo is negative where a stride is.
struct ByteRange {
  int64_t lo = 0, hi = 0;
  bool empty() const { return lo == hi; }
};

// What the four tensors of a plan cover; `updates` is empty for a gather.
struct TensorRanges {
  ByteRange data, indices, updates, output;
};

struct RunOptions {
  int threads = 0;               // at most this many; 0: as many as pay
  std::string_view kernel = {};  // force a kernel ("reference.loops") or a backend ("reference")
  // Nobody looks at the output if the run fails, as with memory that was allocated for it. Under
  // kFail the indices are then checked while they are used, and a failed run may have written to
  // the output.
  bool output_is_fresh = false;
};

struct Request;
struct ScatterSteps;

class Plan {
 public:
  const Nest& nest() const { return nest_; }
  const TensorSpec& data() const;
  const TensorSpec& indices() const;
  const TensorSpec& updates() const;  // of a scatter
  const TensorSpec& output() const;   // with the computed sizes
  bool is_scatter() const { return nest_.scatters; }
  const Request& request() const { return *request_; }
  const TensorRanges& ranges() const { return ranges_; }
  const ScatterSteps& scatter_steps() const { return *scatter_; }  // of a scatter

  // Runs a gather on host memory laid out as data(), indices() and output() say. Throws, with the
  // output untouched, on a null pointer, an output that overlaps an input, or a bad index under
  // kFail. sheaf/queue.h runs plans elsewhere.
  void run(const void* data, const void* indices, void* output, const RunOptions& = {}) const;

  // Runs a scatter: output becomes data with the updates applied. data and output may be the same
  // tensor: then nothing is copied first. data is not read, and may be null, if the plan scatters
  // onto zeros. Throws as above.
  void run(const void* data, const void* indices, const void* updates, void* output,
           const RunOptions& = {}) const;

  // The same two, and refuse tensors other than those planned for.
  void run(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
           const RunOptions& = {}) const;
  void run(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
           const Tensor& output, const RunOptions& = {}) const;

  std::string str() const;   // the loop nest, one line per loop
  std::string json() const;  // the same as a JSON object

  // Two plans are equal when they move the same bytes in the same way.
  friend bool operator==(const Plan& a, const Plan& b);

 private:
  friend Plan make_plan(const Request& request);
  Plan() = default;

  Nest nest_;
  TensorRanges ranges_;
  std::shared_ptr<const Request> request_;
  std::shared_ptr<const ScatterSteps> scatter_;  // the other steps of a scatter
};

}  // namespace sheaf

#pragma GCC visibility pop

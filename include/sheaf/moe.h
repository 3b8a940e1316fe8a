// SPDX-License-Identifier: MIT
//
// Mixtures of experts: tokens ordered by the experts that they are sent to, and back.
//
//   sheaf::MoePermuted sent = sheaf::moe_permute(tokens, experts, {.experts = 8});
//   // … expert e works on rows offsets[e] .. offsets[e + 1] of sent.rows
//   sheaf::Array back = sheaf::moe_unpermute(results, sent.inverse.tensor(), weights);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sheaf/bag.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

struct MoeOptions {
  int64_t experts = -1;   // how many there are; -1: one more than the largest number
  int64_t capacity = -1;  // rows of one expert: what comes after them is dropped; -1: all are kept
};

// Which rows the experts get. Rows are in the order of experts; those of one expert in the order of
// (token, choice).
struct MoeRouting {
  Array sources;  // i64[rows]: the token of each row
  Array inverse;  // i64[tokens, choices]: the row of each choice; -1: it was dropped
  Array offsets;  // i64[experts + 1]: where the rows of each expert begin, and the last ones end
};

// `experts` is [tokens, choices] of an integer type. Throws IndexError for a number that is none of
// the experts'. Runs on host memory; the same on any number of threads.
MoeRouting moe_route(const ConstTensor& experts, const MoeOptions& = {}, const RunOptions& = {});

struct MoePermuted {
  Array rows;  // [rows, …]: tokens, once for each choice
  Array inverse, offsets;
};
MoePermuted moe_permute(const ConstTensor& tokens, const ConstTensor& experts,
                        const MoeOptions& = {}, const RunOptions& = {});

// A permutation, decided; also for devices, where runs allocate nothing.
struct MoeMemory {
  const void* tokens = nullptr;
  const void* experts = nullptr;
  void* rows = nullptr;     // [tokens * choices, …] of tokens' type, or null. Choices that were
                            // dropped leave the last rows as they were.
  void* sources = nullptr;  // i64[tokens * choices], or null
  void* inverse = nullptr;  // i64[tokens, choices]
  void* offsets = nullptr;  // i64[experts + 1]
};

struct MoeNest;
struct MoeRequest;
struct Queue;

class MoePlan {
 public:
  const TensorSpec& tokens() const { return tokens_; }
  const TensorSpec& experts() const { return check_->indices(); }
  const MoeNest& nest() const { return *nest_; }
  const MoeRequest& request() const { return *request_; }
  // A gather whose indices the experts could be: what a device checks.
  const Plan& check() const { return *check_; }

 private:
  friend MoePlan plan_moe_permute(const TensorSpec& tokens, const TensorSpec& experts,
                                  const MoeOptions& options);
  MoePlan() = default;

  TensorSpec tokens_;
  std::shared_ptr<const MoeRequest> request_;
  std::shared_ptr<const MoeNest> nest_;
  std::shared_ptr<const Plan> check_;
};

// The number of experts is given, and rows of tokens have no gaps.
MoePlan plan_moe_permute(const TensorSpec& tokens, const TensorSpec& experts,
                         const MoeOptions& options);

// Runs on memory of a queue. On a device, finish() reports experts that are out of range; until
// then nothing is written.
void run(const MoePlan& plan, const MoeMemory& memory, const Queue& queue, const RunOptions& = {});
void finish(const MoePlan& plan, const Queue& queue);
size_t workspace_bytes(const MoePlan& plan, const Queue& queue, const RunOptions& = {});

// output[t] = sum over k of rows[inverse[t, k]] * weights[t, k]; dropped choices are left out. A
// bag: sheaf/bag.h says how it rounds, and runs it on devices.
BagPlan plan_moe_unpermute(const TensorSpec& rows, const TensorSpec& inverse,
                           const std::optional<TensorSpec>& weights = {});
Array moe_unpermute(const ConstTensor& rows, const ConstTensor& inverse,
                    const std::optional<ConstTensor>& weights = {}, const RunOptions& = {});

}  // namespace sheaf

#pragma GCC visibility pop

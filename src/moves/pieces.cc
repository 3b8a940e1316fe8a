// SPDX-License-Identifier: MIT
#include "moves/pieces.h"

#include <utility>

#include "plan/request.h"
#include "sheaf/error.h"

namespace sheaf::moves {
namespace {

// Calls start() with a queue that has the workspace of this plan, and waits.
template <class Start>
void on_queue(const Plan& plan, const Queue& queue, Start start) {
  if (queue.device.empty()) {
    return start(queue);
  }
  const DeviceMemory workspace(queue.device, workspace_bytes(plan, queue));
  Queue own = queue;
  own.workspace = workspace;
  start(own);
  finish(plan, own);
}

}  // namespace

void run_plan(const Plan& plan, const void* data, const void* indices, void* output,
              const Queue& queue) {
  on_queue(plan, queue, [&](const Queue& own) { run(plan, data, indices, output, own); });
}

void run_plan(const Plan& plan, const void* data, const void* indices, const void* updates,
              void* output, const Queue& queue) {
  on_queue(plan, queue, [&](const Queue& own) { run(plan, data, indices, updates, output, own); });
}

void refuse(const Problem& p) {
  throw Error(
      Refusal{.who = p.who, .what = p.what, .detail = p.detail, .given = p.given, .next = p.next});
}

Plan copy_plan(const char* who, const TensorSpec& from, const TensorSpec& to) {
  Request r;
  r.op = Op::kGatherNd;
  r.name = who;
  r.data = from;
  r.indices = TensorSpec(u8, {0});  // none; and any address is aligned for them
  r.output = to;
  r.output_given = true;
  r.rule = {.out_of_range = OutOfRange::kTrust};
  return make_plan(r);
}

void run_copy(const Plan& plan, const void* from, void* to, const Queue& queue) {
  run_plan(plan, from, from, to, queue);
}

Work run_pieces(std::vector<Piece> pieces) {
  const auto run = [pieces = std::move(pieces)](auto inputs, auto outputs, const Queue& queue) {
    for (const Piece& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(inputs[piece.input]) + piece.from_bytes;
      auto* to = static_cast<std::byte*>(outputs[piece.output]) + piece.to_bytes;
      run_copy(piece.plan, from, to, queue);
    }
  };
  return {run, true};
}

Work in_order(Work first, Work second) {
  const bool only_plans = first.only_plans && second.only_plans;
  return {[first = std::move(first), second = std::move(second)](auto inputs, auto outputs,
                                                                 const Queue& queue) {
            first(inputs, outputs, queue);
            second(inputs, outputs, queue);
          },
          only_plans};
}

int64_t byte_offset(const TensorSpec& whole, const TensorSpec& part, const Dims& start) {
  if (element_count(part.sizes) == 0) {
    return 0;
  }
  int64_t elements = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    elements += start[d] * whole.strides[d];  // inside `whole`, whose offsets fit
  }
  return elements * whole.dtype.bytes();
}

}  // namespace sheaf::moves

// SPDX-License-Identifier: MIT
//
// Plans of sharded operators: what is checked on all ranks before anything moves.
#include "distributed/sharded_plan.h"

#include <future>
#include <system_error>

#include "distributed/gather_run.h"
#include "distributed/scatter_run.h"
#include "distributed/sharded_tensor.h"
#include "distributed/shared_gather.h"
#include "execution/registry.h"
#include "plan/byte_ranges.h"
#include "plan/index_error.h"
#include "plan/lower.h"
#include "plan/refuse.h"
#include "plan/scalar.h"
#include "sheaf/cancel.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf::sharded {

using distributed::Board;
using distributed::CellSpace;
using distributed::GatherRun;
using distributed::Group;
using distributed::ScatterRun;
using distributed::SharedGather;

struct ShardedPlan::State {
  State(const ShardedTensor& data, Request asked, const ShardedOptions& o)
      : tensor(data), request(std::move(asked)), options(o), group(*data.state().group) {}

  ShardedTensor tensor;
  Request request;
  ShardedOptions options;
  Group group;
  std::optional<Plan> plan;   // on the whole tensor
  std::optional<Plan> alone;  // the same on the part, where one rank has everything
  CellSpace space;
  std::unique_ptr<Board> board;  // where the ranks of one node share memory
  std::unique_ptr<SharedGather> shared_gather;
  std::unique_ptr<GatherRun> gather;
  std::unique_ptr<ScatterRun> scatter;
  Traffic none;
  std::future<void> running;

  void check_request();
  void share_memory(int64_t largest_tuples);
  void take_memory(int64_t largest_tuples);
  bool all_in_range(const void* indices) const;
  void check_call(const ConstTensor& indices, const ConstTensor& grid) const;
  void run(const ConstTensor& indices, const ConstTensor& grid, void* output);
  void check_idle() const;
  void start(const ConstTensor& indices, const ConstTensor& grid, void* output);
};

namespace {

// Plans that read indices on their own: a rank alone, with all of the tensor in host memory.
bool runs_alone(const ShardedTensor& tensor) {
  return tensor.ranks() == 1 && !tensor.part().table() && tensor.part().queue().device.empty();
}

void check_row_major(const Request& r, const char* name, const TensorSpec& spec) {
  if (spec.strides != contiguous_strides(spec.sizes) && element_count(spec.sizes) > 0) {
    refuse(r, {Reason::kStrides, name}, cat(name, " is not row-major"),
           cat(name, " has strides ", bracketed(spec.strides)),
           cat("a contiguous ", name, ": rows are copied into it as they arrive"));
  }
}

void check_writable(const Request& r, const Part& part) {
  if (!part.writable()) {
    refuse(r, {Reason::kMemory, "data"}, "part cannot be written",
           part.table() ? "the part is a file" : "the part is read-only memory",
           "load the part into memory, scatter, and save it");
  }
  const bool steps = !r.include_self || r.reduction == Reduction::kMean;
  if (!part.queue().device.empty() && steps) {
    refuse_as(ErrorCode::kUnsupported, r, {Reason::kReduction, "data"},
              "not on a sharded device tensor",
              "mean, and reductions without include_self, keep a state per cell on the host",
              "reduction = add and a count, or a part in host memory");
  }
}

std::string identity(const ShardedPlan::State& s) {
  const Request& r = s.plan->request();
  return cat(to_string(r.op), "   data ", r.data.str(), "   axis ", r.axis, "   batch_dims ",
             r.batch_dims, "   broadcast ", r.broadcast, "   negative ", to_string(r.rule.negative),
             "   out_of_range ", to_string(r.rule.out_of_range), "   reduction ",
             to_string(r.reduction), "   include_self ", r.include_self, "   onto_zeros ",
             r.onto_zeros, "   relaxed ", r.relaxed, "   fill_value ", to_string(r.rule.fill_value),
             "   row bytes ", s.space.row_bytes(), "   rows per entry ", s.space.inner,
             "   workspace_bytes ", s.options.workspace_bytes, "   message_bytes ",
             s.options.message_bytes, "   shared_memory ", s.options.shared_memory);
}

}  // namespace

void ShardedPlan::State::check_request() {
  plan = make_plan(request);
  const Request& r = plan->request();
  if (plan->nest().coordinates.empty() || coordinate_axis(r, 0) != tensor.axis()) {
    refuse(r, {Reason::kAxis, "data"}, "not along the split axis",
           cat("axis ", tensor.axis(), " of data is split, but the first index runs along ",
               plan->nest().coordinates.empty() ? "no axis" : cat("axis ", coordinate_axis(r, 0))),
           cat("axis = ", tensor.axis(),
               "; of gather_nd and scatter_nd, batch_dims = ", tensor.axis()));
  }
  if (options.message_bytes < 1 || options.message_bytes > (int64_t{1} << 30)) {
    refuse(r, {Reason::kOption}, "impossible options",
           cat("message_bytes = ", options.message_bytes), "1 to 2^30");
  }
  if (plan->is_scatter()) {
    check_writable(r, tensor.part());
    check_row_major(r, "updates", plan->updates());
    if (r.accumulate_f32 && r.reduction != Reduction::kNone) {
      refuse_as(ErrorCode::kUnsupported, r, {Reason::kReduction, "data"}, "not on a sharded tensor",
                "accumulate_f32 rounds once, but ranks apply their updates one after the other",
                "a part of type f32");
    }
  }
  space = distributed::cell_space(*plan);
}

// Collective. The board belongs to the state, which all ranks free together, also where only one of
// them finds no memory for the rest.
void ShardedPlan::State::share_memory(int64_t largest_tuples) {
  if (!plan->is_scatter() && tensor.ranks() > 1) {
    board = SharedGather::open_board(group, space, options, largest_tuples);
  }
}

void ShardedPlan::State::take_memory(int64_t largest_tuples) {
  if (runs_alone(tensor)) {
    Request r = plan->request();
    r.data = tensor.part().tensor().spec;
    if (plan->is_scatter()) {
      r.output = r.data;
    }
    alone = make_plan(r);
  } else if (plan->is_scatter()) {
    scatter = std::make_unique<ScatterRun>(group, tensor, *plan, space, options, largest_tuples);
  } else if (board) {
    shared_gather = std::make_unique<SharedGather>(group, tensor, *plan, space, options,
                                                   largest_tuples, *board);
  } else {
    gather = std::make_unique<GatherRun>(group, tensor, *plan, space, options, largest_tuples);
  }
}

// Much faster than the walk that reports the first bad index.
bool ShardedPlan::State::all_in_range(const void* indices) const {
  const auto* const bytes = static_cast<const std::byte*>(indices);
  const Queue& queue = tensor.part().queue();
  const bool limited = queue.device.empty() && queue.threads > 0;
  const Launch launch{.threads = limited ? queue.threads : distributed::threads_per_rank()};
  return space.tuples == 0 || host_backends().front()->check(*plan, bytes, launch);
}

// `grid`: the output of a gather, the updates of a scatter.
void ShardedPlan::State::check_call(const ConstTensor& indices, const ConstTensor& grid) const {
  const Request& r = plan->request();
  const char* name = plan->is_scatter() ? "updates" : "output";
  check_planned(*plan, "indices", indices.spec, plan->indices());
  check_planned(*plan, name, grid.spec, plan->is_scatter() ? plan->updates() : plan->output());
  const auto check_pointer = [&](const char* which, const ConstTensor& tensor_given) {
    if (tensor_given.data == nullptr && element_count(tensor_given.spec.sizes) > 0) {
      refuse(r, {Reason::kNull, which}, "null pointer",
             cat(which, " has elements, but its pointer is null"), "pass the tensor's memory");
    }
  };
  check_pointer("indices", indices);
  check_pointer(name, grid);
  const Tensor& part = tensor.part().tensor();
  const ConstTensor written = plan->is_scatter() ? ConstTensor(part) : grid;
  const ConstTensor read = plan->is_scatter() ? grid : ConstTensor(part);
  const bool on_host = tensor.part().queue().device.empty() && part.data != nullptr;
  if ((on_host && may_overlap(written, read)) ||
      ((on_host || !plan->is_scatter()) && may_overlap(written, indices))) {
    refuse(r, {Reason::kMemory}, "memory overlaps",
           "what is written shares bytes with what is read", "memory of its own for each tensor");
  }
  // Trusted indices, too: a wrong one must not name a rank that does not exist.
  const OutOfRange rule = r.rule.out_of_range;
  if ((rule == OutOfRange::kFail || rule == OutOfRange::kTrust) && !all_in_range(indices.data)) {
    throw_first_bad_index(*plan, indices.data);
  }
}

void ShardedPlan::State::run(const ConstTensor& indices, const ConstTensor& grid, void* output) {
  const CancelScope never(Cancel{});  // a rank that ends early would leave the others without rows
  group.together(request.name, [&] {
    check_call(indices, grid);
    if (alone) {
      const Tensor& part = tensor.part().tensor();
      if (plan->is_scatter()) {
        sheaf::run(*alone, part.data, indices.data, grid.data, part.data, tensor.part().queue());
      } else {
        sheaf::run(*alone, part.data, indices.data, output, tensor.part().queue());
      }
    }
  });
  if (shared_gather) {
    shared_gather->run(indices.data, static_cast<std::byte*>(output));
  } else if (gather) {
    gather->run(indices.data, static_cast<std::byte*>(output));
  } else if (scatter) {
    scatter->run(indices.data, static_cast<const std::byte*>(grid.data));
  }
}

void ShardedPlan::State::check_idle() const {
  if (running.valid()) {
    refuse(request, {Reason::kPlan}, "already running", "a plan has one run at a time",
           "wait() first, or a second plan");
  }
}

void ShardedPlan::State::start(const ConstTensor& indices, const ConstTensor& grid, void* output) {
  check_idle();
  const auto work = [this, indices, grid, output] { run(indices, grid, output); };
  if (group.transport().works_in_threads()) {
    try {
      running = std::async(std::launch::async, work);
      return;
    } catch (const std::system_error&) {
      // No thread is available: the other ranks must not wait for this one.
    }
  }
  running = std::async(std::launch::deferred, work);
}

ShardedPlan::ShardedPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShardedPlan::ShardedPlan(ShardedPlan&&) noexcept = default;
ShardedPlan& ShardedPlan::operator=(ShardedPlan&&) noexcept = default;
ShardedPlan::~ShardedPlan() = default;

namespace {

void check_kind(const ShardedPlan::State& s, bool scatters) {
  if (s.plan->is_scatter() != scatters) {
    refuse(s.plan->request(), {Reason::kPlan}, scatters ? "not a scatter" : "not a gather",
           scatters ? "this is a plan of a gather" : "this is a plan of a scatter",
           scatters ? "run() or start()" : "scatter() or start_scatter()");
  }
}

}  // namespace

void ShardedPlan::run(const ConstTensor& indices, const Tensor& output) {
  check_kind(*state_, false);
  state_->check_idle();
  state_->run(indices, output, output.data);
}

void ShardedPlan::scatter(const ConstTensor& indices, const ConstTensor& updates) {
  check_kind(*state_, true);
  state_->check_idle();
  state_->run(indices, updates, nullptr);
}

void ShardedPlan::start(const ConstTensor& indices, const Tensor& output) {
  check_kind(*state_, false);
  state_->start(indices, output, output.data);
}

void ShardedPlan::start_scatter(const ConstTensor& indices, const ConstTensor& updates) {
  check_kind(*state_, true);
  state_->start(indices, updates, nullptr);
}

void ShardedPlan::wait() {
  if (state_->running.valid()) {
    std::exchange(state_->running, {}).get();
  }
}

const TensorSpec& ShardedPlan::output() const { return state_->plan->output(); }
const TensorSpec& ShardedPlan::updates() const { return state_->plan->updates(); }

const ShardedPlan::Traffic& ShardedPlan::traffic() const {
  return state_->shared_gather ? state_->shared_gather->traffic
         : state_->gather      ? state_->gather->traffic
         : state_->scatter     ? state_->scatter->traffic
                               : state_->none;
}

ShardedPlan make_sharded_plan(const ShardedTensor& data, const Request& request,
                              const ShardedOptions& options) {
  auto state = std::make_unique<ShardedPlan::State>(data, request, options);
  const Group& group = state->group;
  group.together(request.name, [&] { state->check_request(); });
  const int64_t largest =
      group.same_everywhere(request.name, identity(*state), state->space.tuples);
  state->share_memory(largest);
  group.together(request.name, [&] { state->take_memory(largest); });
  return ShardedPlan(std::move(state));
}

namespace {

template <class Options>
ShardedPlan plan_operator(const ShardedTensor& data, const TensorSpec& indices,
                          const TensorSpec& updates, const Options& options,
                          const ShardedOptions& sharded) {
  Request r = request_from(options);
  r.data = data.spec();
  r.indices = indices;
  r.updates = updates;
  return make_sharded_plan(data, r, sharded);
}

}  // namespace

ShardedPlan plan_gather(const ShardedTensor& data, const TensorSpec& indices,
                        const GatherOptions& options, const ShardedOptions& sharded) {
  return plan_operator(data, indices, {}, options, sharded);
}

ShardedPlan plan_gather_elements(const ShardedTensor& data, const TensorSpec& indices,
                                 const GatherElementsOptions& options,
                                 const ShardedOptions& sharded) {
  return plan_operator(data, indices, {}, options, sharded);
}

ShardedPlan plan_gather_nd(const ShardedTensor& data, const TensorSpec& indices,
                           const GatherNdOptions& options, const ShardedOptions& sharded) {
  return plan_operator(data, indices, {}, options, sharded);
}

ShardedPlan plan_scatter(const ShardedTensor& data, const TensorSpec& indices,
                         const TensorSpec& updates, const ScatterOptions& options,
                         const ShardedOptions& sharded) {
  return plan_operator(data, indices, updates, options, sharded);
}

ShardedPlan plan_scatter_elements(const ShardedTensor& data, const TensorSpec& indices,
                                  const TensorSpec& updates, const ScatterElementsOptions& options,
                                  const ShardedOptions& sharded) {
  return plan_operator(data, indices, updates, options, sharded);
}

ShardedPlan plan_scatter_nd(const ShardedTensor& data, const TensorSpec& indices,
                            const TensorSpec& updates, const ScatterNdOptions& options,
                            const ShardedOptions& sharded) {
  return plan_operator(data, indices, updates, options, sharded);
}

}  // namespace sheaf::sharded

// SPDX-License-Identifier: MIT
#include "kernel.h"

#include "sheaf/workers.h"

namespace sheaf::ort {
namespace {

// A task on the runtime's threads.
struct Task {
  void (*run)(void*, int64_t);
  void* argument;
};

void run_task(void* task, size_t number) {
  const auto& [run, argument] = *static_cast<const Task*>(task);
  run(argument, static_cast<int64_t>(number));
}

// The session's own threads: it has as many as its options say, and they may be spinning, waiting
// for work. Threads beside them would share their cores.
bool run_on_session_threads(void* context, int64_t tasks, void (*run)(void*, int64_t),
                            void* argument) {
  const auto& node = *static_cast<const Context*>(context);
  Task task{run, argument};
  return node.api().try_call(kKernelContextParallelFor, node.handle(), run_task,
                             static_cast<size_t>(tasks), 0, &task);
}

}  // namespace

Kernel::Kernel(const Api& api) : api_(api) {
  compute = [](KernelImpl* impl, KernelContext* handle) noexcept -> Status* {
    auto& kernel = *static_cast<Kernel*>(impl);
    return guarded(kernel.api_, [&] {
      Context context(kernel.api_, handle);
      const WorkersScope threads(Workers{.run = run_on_session_threads, .context = &context});
      kernel.run(context);
    });
  };
  release = [](KernelImpl* impl) noexcept { delete static_cast<Kernel*>(impl); };
}

}  // namespace sheaf::ort

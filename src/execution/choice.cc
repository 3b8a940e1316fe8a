// SPDX-License-Identifier: MIT
#include "execution/choice.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "execution/launch.h"
#include "execution/registry.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "plan/scatter_steps.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf {
namespace {

using Backends = std::span<const Backend* const>;

template <class Buffers>
std::span<const KernelOn<Buffers>> kernels_of(const Backend& backend) {
  if constexpr (std::is_same_v<Buffers, GatherBuffers>) {
    return backend.gather;
  } else {
    return backend.scatter;
  }
}

// "reference" asks for a backend, "reference.loops" for one kernel, "cpu.rows/copy" for one kernel
// with one of its movers, "" for anything.
bool wanted(std::string_view asked, const Backend& backend, std::string_view kernel) {
  return asked.empty() || asked == backend.name || asked.substr(0, asked.find('/')) == kernel;
}

std::string_view mover_of(std::string_view asked) {
  const size_t slash = asked.empty() ? asked.npos : asked.find('/');
  return slash == asked.npos ? std::string_view() : asked.substr(slash + 1);
}

template <class Buffers>
std::vector<MoverReport> movers_of(const KernelOn<Buffers>& kernel, const KernelQuery& query) {
  return kernel.movers == nullptr ? std::vector<MoverReport>() : kernel.movers(query);
}

// Why a kernel that accepts a nest does not run it by the mover that was asked for; null if it
// does.
template <class Buffers>
const char* mover_refusal(const KernelOn<Buffers>& kernel, const KernelQuery& query,
                          std::string_view mover) {
  for (const MoverReport& report : movers_of(kernel, query)) {
    if (report.name == mover) {
      return report.can_run ? nullptr : report.refusal;
    }
  }
  return "it has no such mover";
}

template <class Buffers>
bool names_kernel(Backends backends, std::string_view asked) {
  return std::any_of(backends.begin(), backends.end(), [&](const Backend* backend) {
    const auto kernels = kernels_of<Buffers>(*backend);
    return std::any_of(kernels.begin(), kernels.end(), [&](const KernelOn<Buffers>& kernel) {
      return wanted(asked, *backend, kernel.name);
    });
  });
}

// What SHEAF_KERNEL asked for when it was first looked at: a copy, since a program may free its
// environment.
const std::string& kernel_of_environment() {
  static const std::string name = [] {
    const char* const variable = std::getenv("SHEAF_KERNEL");
    return std::string(variable == nullptr ? "" : variable);
  }();
  return name;
}

// A gather's name in SHEAF_KERNEL does not bind scatters, nor a device's the host. A name that
// nothing has binds all of them, so that a misspelling does not go unnoticed.
template <class Buffers>
std::string_view binding_environment(Backends backends) {
  const std::string_view name = kernel_of_environment();
  if (name.empty() || names_kernel<Buffers>(backends, name)) {
    return name;
  }
  for (const Backends all : {host_backends(), device_backends()}) {
    if (names_kernel<GatherBuffers>(all, name) || names_kernel<ScatterBuffers>(all, name)) {
      return "";
    }
  }
  return name;
}

// Calls visit(backend, kernel, refusal) for each wanted kernel in order until it returns true.
template <class Buffers, class Visit>
void ask_kernels(Backends backends, const KernelQuery& query, std::string_view asked, Visit visit) {
  const std::string_view mover = mover_of(asked);
  for (const Backend* backend : backends) {
    for (const KernelOn<Buffers>& kernel : kernels_of<Buffers>(*backend)) {
      if (!wanted(asked, *backend, kernel.name)) {
        continue;
      }
      const char* why = kernel.refusal(query);
      if (why == nullptr && !mover.empty()) {
        why = mover_refusal(kernel, query, mover);
      }
      if (visit(*backend, kernel, why)) {
        return;
      }
    }
  }
}

template <class Buffers>
[[noreturn]] void throw_no_kernel(const Plan& plan, Backends backends, const KernelQuery& query,
                                  std::string_view asked) {
  std::string refusals;
  ask_kernels<Buffers>(backends, query, asked,
                       [&](const Backend&, const KernelOn<Buffers>& kernel, const char* why) {
                         const std::string_view name =
                             mover_of(asked).empty() ? kernel.name : asked;
                         refusals += cat(refusals.empty() ? "" : "; ", name,
                                         " refuses: ", why == nullptr ? "nothing" : why);
                         return false;
                       });
  if (refusals.empty()) {
    refusals = cat("\"", asked, "\" names no ", plan.is_scatter() ? "scatter" : "gather",
                   " kernel of this build");
  }
  refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kKernel}, "no such kernel", refusals,
            "another kernel; sheaf doctor lists the backends");
}

template <class Buffers>
Choice<Buffers> choose(const Plan& plan, const KernelQuery& query, const Backend* device,
                       std::string_view asked) {
  const Backends backends = device != nullptr ? Backends(&device, 1) : host_backends();
  if (asked.empty()) {
    asked = binding_environment<Buffers>(backends);
  }
  Choice<Buffers> choice;
  ask_kernels<Buffers>(
      backends, query, asked,
      [&](const Backend& backend, const KernelOn<Buffers>& kernel, const char* why) {
        if (why == nullptr) {
          choice = {&backend, &kernel};
        }
        return why == nullptr;
      });
  if (choice.kernel == nullptr) {
    throw_no_kernel<Buffers>(plan, backends, query, asked);
  }
  return choice;
}

// One for a kernel that refuses or has one way to move rows, else one per mover.
template <class Buffers>
void add_reports(const KernelOn<Buffers>& kernel, const KernelQuery& query, std::string_view asked,
                 const char* why, std::vector<KernelReport>& all) {
  if (why != nullptr || kernel.movers == nullptr) {
    all.push_back({std::string(kernel.name), why == nullptr ? "" : why, why == nullptr});
    return;
  }
  for (const MoverReport& mover : movers_of(kernel, query)) {
    if (asked.empty() || asked == mover.name) {
      const bool runs = mover.refusal == nullptr || asked == mover.name;
      all.push_back({cat(kernel.name, "/", mover.name), runs ? "" : mover.refusal, mover.can_run});
    }
  }
}

template <class Buffers>
std::vector<KernelReport> reports(const KernelQuery& query, Backends backends,
                                  std::string_view asked) {
  if (asked.empty()) {
    asked = binding_environment<Buffers>(backends);
  }
  std::vector<KernelReport> all;
  ask_kernels<Buffers>(backends, query, asked,
                       [&](const Backend&, const KernelOn<Buffers>& kernel, const char* why) {
                         add_reports(kernel, query, mover_of(asked), why, all);
                         return false;
                       });
  return all;
}

template <class Buffers>
std::vector<KernelReport> reports_on(const Choice<Buffers>& choice, const KernelQuery& query,
                                     std::string_view asked) {
  std::vector<KernelReport> all;
  add_reports(*choice.kernel, query, asked_mover(asked), nullptr, all);
  return all;
}

// The plan that kernels run: that of the f32 copies where there are some.
const Plan& inner_plan(const Plan& plan) {
  return plan.is_scatter() && plan.scatter_steps().wide ? plan.scatter_steps().wide->plan : plan;
}

KernelQuery query_of(const Plan& asked, void* stream) {
  const Plan& plan = inner_plan(asked);
  return {.nest = plan.nest(),
          .addresses = 0,
          .relaxed = plan.request().relaxed,
          .plan = &plan,
          .stream = stream};
}

}  // namespace

std::string_view asked_mover(std::string_view asked) {
  return mover_of(asked.empty() ? kernel_of_environment() : asked);
}

Choice<GatherBuffers> choose_gather(const Plan& plan, const KernelQuery& query,
                                    const Backend* device, std::string_view asked) {
  return choose<GatherBuffers>(plan, query, device, asked);
}

Choice<ScatterBuffers> choose_scatter(const Plan& plan, const KernelQuery& query,
                                      const Backend* device, std::string_view asked) {
  return choose<ScatterBuffers>(plan, query, device, asked);
}

const ScatterKernel& scatter_kernel(const Backend& backend, const Nest& nest) {
  return *std::find_if(
      backend.scatter.begin(), backend.scatter.end(),
      [&](const ScatterKernel& kernel) { return kernel.refusal({.nest = nest}) == nullptr; });
}

std::vector<KernelReport> kernels_for(const Plan& plan, const Queue& queue,
                                      const RunOptions& options) {
  Backends backends = host_backends();
  const Backend* device = nullptr;
  if (!queue.device.empty()) {
    if (queue.stream == nullptr && !device_available(queue.device)) {
      return {};
    }
    device = prepared_device(queue);
    backends = Backends(&device, 1);
  }
  const KernelQuery query = query_of(plan, queue.stream);
  return plan.is_scatter() ? reports<ScatterBuffers>(query, backends, options.kernel)
                           : reports<GatherBuffers>(query, backends, options.kernel);
}

std::vector<KernelReport> kernels_for(const Plan& plan, const RunOptions& options) {
  return kernels_for(plan, Queue{}, options);
}

std::string kernel_name(const Plan& plan, const RunOptions& options) {
  const KernelQuery query = query_of(plan, nullptr);
  const std::vector<KernelReport> all =
      plan.is_scatter()
          ? reports_on(choose_scatter(plan, query, nullptr, options.kernel), query, options.kernel)
          : reports_on(choose_gather(plan, query, nullptr, options.kernel), query, options.kernel);
  return std::find_if(all.begin(), all.end(),
                      [](const KernelReport& report) { return report.refusal.empty(); })
      ->name;
}

size_t workspace_bytes(const Plan& plan, const Queue& queue, const RunOptions& options) {
  const Backend* const device = prepared_device(queue);
  if (device == nullptr) {
    return 0;
  }
  const KernelQuery query = query_of(plan, queue.stream);
  const Nest& nest = query.nest;
  const size_t kernel =
      plan.is_scatter() ? kernel_bytes(choose_scatter(plan, query, device, options.kernel), nest, 0)
                        : kernel_bytes(choose_gather(plan, query, device, options.kernel), nest, 0);
  const size_t bytes = workspace_layout(inner_plan(plan), kernel).bytes;
  return plan.is_scatter() ? wide_layout(plan, bytes).bytes : bytes;
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : host_backends()) {
    names.emplace_back(backend->name);
  }
  return names;
}

}  // namespace sheaf

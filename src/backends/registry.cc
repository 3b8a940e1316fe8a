// SPDX-License-Identifier: MIT
#include "backends/registry.h"

#include <algorithm>
#include <cstdlib>

#include "plan/refuse.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Fastest first. The reference backend accepts everything and stands last.
std::span<const Backend* const> backends() {
  static const Backend* const kAll[] = {cpu_backend(), &reference_backend()};
  return cpu_backend() != nullptr ? std::span(kAll) : std::span(kAll).subspan(1);
}

template <class Memory>
std::span<const KernelOn<Memory>> kernels_of(const Backend& backend) {
  if constexpr (std::is_same_v<Memory, Buffers>) {
    return backend.gather;
  } else {
    return backend.scatter;
  }
}

// "reference" asks for a backend, "reference.loops" for one kernel, "" for anything.
template <class Memory>
bool wanted(std::string_view asked, const Backend& backend, const KernelOn<Memory>& kernel) {
  return asked.empty() || asked == backend.name || asked == kernel.name;
}

template <class Memory>
bool names_kernel(std::string_view asked) {
  for (const Backend* backend : backends()) {
    for (const KernelOn<Memory>& kernel : kernels_of<Memory>(*backend)) {
      if (wanted(asked, *backend, kernel)) {
        return true;
      }
    }
  }
  return false;
}

// What SHEAF_KERNEL asks for. A gather's name there does not bind scatters, nor a scatter's
// gathers.
template <class Memory>
std::string_view kernel_of_environment() {
  using Other = std::conditional_t<std::is_same_v<Memory, Buffers>, ScatterBuffers, Buffers>;
  const char* const variable = std::getenv("SHEAF_KERNEL");
  const std::string_view name = variable == nullptr ? "" : variable;
  return !names_kernel<Memory>(name) && names_kernel<Other>(name) ? "" : name;
}

template <class Memory>
std::string_view asked_kernel(const RunOptions& options) {
  static const std::string_view from_environment = kernel_of_environment<Memory>();
  return options.kernel.empty() ? from_environment : options.kernel;
}

// Calls visit(backend, kernel, refusal) for each wanted kernel in order until it returns true.
template <class Memory, class Visit>
void ask_kernels(const Nest& nest, std::string_view asked, Visit visit) {
  for (const Backend* backend : backends()) {
    for (const KernelOn<Memory>& kernel : kernels_of<Memory>(*backend)) {
      if (wanted(asked, *backend, kernel) && visit(*backend, kernel, kernel.refusal(nest))) {
        return;
      }
    }
  }
}

template <class Memory>
[[noreturn]] void throw_no_kernel(const Plan& plan, std::string_view asked) {
  std::string refusals;
  ask_kernels<Memory>(
      plan.nest(), asked, [&](const Backend&, const KernelOn<Memory>& kernel, const char* why) {
        refusals += cat(refusals.empty() ? "" : "; ", kernel.name, " refuses: ", why);
        return false;
      });
  if (refusals.empty()) {
    refusals = cat("\"", asked, "\" names no ", plan.is_scatter() ? "scatter" : "gather",
                   " kernel of this build");
  }
  throw Error(ErrorCode::kUnsupported,
              four_lines(plan.request(), "no such kernel", refusals,
                         "another kernel; sheaf doctor lists the backends"));
}

template <class Memory>
Choice<Memory> choose(const Plan& plan, const RunOptions& options) {
  const std::string_view asked = asked_kernel<Memory>(options);
  Choice<Memory> choice;
  ask_kernels<Memory>(plan.nest(), asked,
                      [&](const Backend& backend, const KernelOn<Memory>& kernel, const char* why) {
                        if (why == nullptr) {
                          choice = {&backend, &kernel};
                        }
                        return why == nullptr;
                      });
  if (choice.kernel == nullptr) {
    throw_no_kernel<Memory>(plan, asked);
  }
  return choice;
}

template <class Memory>
std::vector<KernelReport> reports(const Plan& plan, const RunOptions& options) {
  std::vector<KernelReport> all;
  ask_kernels<Memory>(plan.nest(), asked_kernel<Memory>(options),
                      [&](const Backend&, const KernelOn<Memory>& kernel, const char* why) {
                        all.push_back({std::string(kernel.name), why == nullptr ? "" : why});
                        return false;
                      });
  return all;
}

}  // namespace

Choice<Buffers> choose_gather(const Plan& plan, const RunOptions& options) {
  return choose<Buffers>(plan, options);
}

Choice<ScatterBuffers> choose_scatter(const Plan& plan, const RunOptions& options) {
  return choose<ScatterBuffers>(plan, options);
}

const ScatterKernel& scatter_kernel(const Backend& backend, const Nest& nest) {
  return *std::find_if(
      backend.scatter.begin(), backend.scatter.end(),
      [&](const ScatterKernel& kernel) { return kernel.refusal(nest) == nullptr; });
}

std::vector<KernelReport> kernels_for(const Plan& plan, const RunOptions& options) {
  return plan.is_scatter() ? reports<ScatterBuffers>(plan, options)
                           : reports<Buffers>(plan, options);
}

std::string kernel_name(const Plan& plan, const RunOptions& options) {
  return std::string(plan.is_scatter() ? choose_scatter(plan, options).kernel->name
                                       : choose_gather(plan, options).kernel->name);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : backends()) {
    names.emplace_back(backend->name);
  }
  return names;
}

}  // namespace sheaf

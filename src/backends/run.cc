// SPDX-License-Identifier: MIT
//
// Running a plan: the last checks, which need the pointers, then the first kernel that accepts.
#include <cstdlib>

#include "backends/backend.h"
#include "plan/index_error.h"
#include "plan/memory.h"
#include "plan/refuse.h"
#include "sheaf/explain.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Fastest first. The reference backend accepts everything and stands last.
std::span<const Backend* const> backends() {
  static const Backend* const kAll[] = {cpu_backend(), &reference_backend()};
  return cpu_backend() != nullptr ? std::span(kAll) : std::span(kAll).subspan(1);
}

struct Choice {
  const Backend* backend = nullptr;
  const Kernel* kernel = nullptr;
};

// "reference" asks for a backend, "reference.loops" for one kernel, "" for anything.
bool wanted(std::string_view asked, const Backend& backend, const Kernel& kernel) {
  return asked.empty() || asked == backend.name || asked == kernel.name;
}

std::string_view asked_kernel(const RunOptions& options) {
  if (!options.kernel.empty()) {
    return options.kernel;
  }
  static const char* const from_environment = std::getenv("SHEAF_KERNEL");
  return from_environment == nullptr ? "" : from_environment;
}

// Calls visit(backend, kernel, refusal) for each wanted kernel in order until it returns true.
template <class Visit>
void ask_kernels(const Nest& nest, std::string_view asked, Visit visit) {
  for (const Backend* backend : backends()) {
    for (const Kernel& kernel : backend->gather) {
      if (wanted(asked, *backend, kernel) && visit(*backend, kernel, kernel.refusal(nest))) {
        return;
      }
    }
  }
}

[[noreturn]] void throw_no_kernel(const Plan& plan, std::string_view asked) {
  std::string refusals;
  ask_kernels(plan.nest(), asked, [&](const Backend&, const Kernel& kernel, const char* why) {
    refusals += cat(refusals.empty() ? "" : "; ", kernel.name, " refuses: ", why);
    return false;
  });
  if (refusals.empty()) {
    refusals = cat("\"", asked, "\" names no kernel of this build");
  }
  throw Error(ErrorCode::kUnsupported,
              four_lines(plan.request(), "no such kernel", refusals,
                         "another kernel; sheaf doctor lists the backends"));
}

Choice choose(const Plan& plan, const RunOptions& options) {
  const std::string_view asked = asked_kernel(options);
  Choice choice;
  ask_kernels(plan.nest(), asked,
              [&](const Backend& backend, const Kernel& kernel, const char* why) {
                if (why == nullptr) {
                  choice = {&backend, &kernel};
                }
                return why == nullptr;
              });
  if (choice.kernel == nullptr) {
    throw_no_kernel(plan, asked);
  }
  return choice;
}

void check_pointer(const Plan& plan, const char* tensor, const void* pointer, ByteRange range) {
  if (pointer == nullptr && !range.empty()) {
    refuse(plan.request(), "null pointer", cat(tensor, " has elements, but its pointer is null"),
           "pass the tensor's memory");
  }
  const auto address = reinterpret_cast<intptr_t>(pointer);
  if (!checked_add(address, range.lo) || !checked_add(address, range.hi)) {
    refuse(plan.request(), "tensor too large",
           cat("the strides of ", tensor, " lead from its pointer out of the address space"),
           "check the strides; they are in elements, not in bytes");
  }
}

void refuse_overlap(const Plan& plan, const char* tensor, const ConstTensor& input,
                    const ConstTensor& output) {
  if (may_overlap(input, output)) {
    refuse(plan.request(), "output overlaps an input", cat("output and ", tensor, " share memory"),
           "an output of its own, then copy it back");
  }
}

void check_planned(const Plan& plan, const char* tensor, const TensorSpec& got,
                   const TensorSpec& planned) {
  if (got != planned) {
    refuse(plan.request(), cat(tensor, " differs from the plan's"),
           cat("got ", got.str(), ", planned for ", planned.str()),
           "a plan for these tensors, or these strides");
  }
}

}  // namespace

void Plan::check_memory(const void* data_memory, const void* indices_memory,
                        const void* output_memory) const {
  check_pointer(*this, "data", data_memory, data_range_);
  check_pointer(*this, "indices", indices_memory, indices_range_);
  check_pointer(*this, "output", output_memory, output_range_);
  if (ranges_meet(data_memory, data_range_, output_memory, output_range_)) {
    refuse_overlap(*this, "data", {data_memory, data()}, {output_memory, output()});
  }
  if (ranges_meet(indices_memory, indices_range_, output_memory, output_range_)) {
    refuse_overlap(*this, "indices", {indices_memory, indices()}, {output_memory, output()});
  }
}

void Plan::run(const void* data_memory, const void* indices_memory, void* output_memory,
               const RunOptions& options) const {
  check_memory(data_memory, indices_memory, output_memory);
  const Choice choice = choose(*this, options);
  const Buffers buffers{static_cast<const std::byte*>(data_memory),
                        static_cast<const std::byte*>(indices_memory),
                        static_cast<std::byte*>(output_memory)};
  if (nest_.out_of_range == OutOfRange::kFail &&
      !choice.backend->all_in_range(nest_, buffers.indices, options.threads)) {
    throw_first_bad_index(*this, indices_memory);
  }
  if (!nest_.empty()) {
    choice.kernel->run(nest_, buffers, options.threads);
  }
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const Tensor& output_tensor, const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, output_tensor.data, options);
}

std::vector<KernelReport> kernels_for(const Plan& plan, const RunOptions& options) {
  std::vector<KernelReport> reports;
  ask_kernels(plan.nest(), asked_kernel(options),
              [&](const Backend&, const Kernel& kernel, const char* why) {
                reports.push_back({std::string(kernel.name), why == nullptr ? "" : why});
                return false;
              });
  return reports;
}

std::string kernel_name(const Plan& plan, const RunOptions& options) {
  return std::string(choose(plan, options).kernel->name);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : backends()) {
    names.emplace_back(backend->name);
  }
  return names;
}

}  // namespace sheaf

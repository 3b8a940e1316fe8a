// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "bindings.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

struct Verdict {
  Finish finish;
  GpuMemory workspace;
  DLDevice device;
  void* stream;
  nb::object stream_owner;
};

// Enough for the verdict on indices and the lists of a small scatter.
constexpr size_t kSpareBytes = 4096;

struct Spare {
  DLDevice device;
  Library library;
  void* stream;  // of the run before: what its library would hand out there, too
  GpuMemory memory;
};

// All under the GIL, and never destroyed: at the end of the process Python may be gone before.
struct Kept {
  int deferrals = 0;
  std::vector<Verdict> pending;
  std::vector<Verdict> captured;  // into graphs that may be replayed at any time, on any stream
  std::vector<Spare> spares;
};

Kept& kept() {
  static auto& all = *new Kept;
  return all;
}

void* pointer_from(const nb::object& number) {
  return reinterpret_cast<void*>(nb::cast<uintptr_t>(number));
}

// Remembers the first thing that is thrown.
template <class Check>
void try_to(std::exception_ptr& first, Check check) {
  try {
    check();
  } catch (const Error&) {
    if (first == nullptr) {
      first = std::current_exception();
    }
  }
}

bool captures(const Placement& placement) {
  return placement.device.device_type != kDLVulkan && gpu::capturing(placement.stream);
}

void check_pending(const Verdict& verdict) {
  const gpu::DeviceGuard guard(verdict.device);
  without_gil([&] { verdict.finish(gpu::queue(verdict.workspace.view, verdict.stream)); });
}

void check_captured(const Verdict& verdict) {
  const gpu::DeviceGuard guard(verdict.device);
  without_gil([&] {
    gpu::wait_for_device();
    try {
      verdict.finish(gpu::queue(verdict.workspace.view, nullptr));
    } catch (const Error&) {
      gpu::clear(verdict.workspace.view);  // an error is reported once
      throw;
    }
  });
}

}  // namespace

Queue gpu::queue(WorkspaceView workspace, void* stream) {
  return {.device = kName, .stream = stream, .workspace = workspace};
}

std::string_view gpu::name_of(const DLDevice& device) {
  return device.device_type == kDLVulkan ? kVulkanName : kName;
}

DLDeviceType gpu::own_type(const DLDevice& device) {
  return device.device_type == kDLVulkan ? kDLVulkan : kDLCUDA;
}

Queue gpu::queue_at(const Placement& placement, WorkspaceView workspace) {
  return {.device = name_of(placement.device), .stream = placement.stream, .workspace = workspace};
}

LibraryStream current_stream(nb::handle object, const DLDevice& place) {
  if (place.device_type == kDLVulkan) {
    return {};
  }
  const int device = place.device_id;
  const ArrayType type = array_type_of(object);
  if (type.api != nullptr) {
    void* stream = nullptr;
    if (type.api->current_stream(kDLCUDA, device, &stream) != 0) {
      throw nb::python_error();
    }
    return {stream, {}};
  }
  if (type.library == Library::kTorch) {
    const nb::module_ torch = nb::module_::import_("torch._C");
    return {pointer_from(torch.attr("_cuda_getCurrentRawStream")(device)), {}};
  }
  if (type.library == Library::kCupy) {
    const nb::module_ cupy = nb::module_::import_("cupy.cuda");
    const nb::object stream = cupy.attr("get_current_stream")();
    return {pointer_from(stream.attr("ptr")), stream};
  }
  return {};
}

bool is_gpu(const DLDevice& device) {
  return device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged ||
         device.device_type == kDLVulkan;
}

// Managed memory is on the GPU whose number it has.
bool same_device(const DLDevice& a, const DLDevice& b) {
  return is_gpu(a) && is_gpu(b) && a.device_id == b.device_id &&
         (a.device_type == kDLVulkan) == (b.device_type == kDLVulkan);
}

bool is_host(const DLDevice& device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
}

std::string text_of(const DLDevice& device) {
  return is_gpu(device)    ? cat(gpu::name_of(device), ":", device.device_id)
         : is_host(device) ? "the CPU"
                           : cat("DLPack device type ", static_cast<int32_t>(device.device_type));
}

void keep_verdict(Finish finish, const Placement& placement, const GpuMemory& workspace) {
  if (workspace.view.bytes == 0) {
    return;
  }
  const bool captured = captures(placement);
  if (captured) {
    gpu::clear(workspace.view);  // somebody may look before the first replay
  }
  (captured ? kept().captured : kept().pending)
      .push_back({std::move(finish), workspace, placement.device, placement.stream,
                  placement.stream_owner});
}

GpuMemory spare_memory(const Placement& placement, size_t bytes) {
  if (bytes == 0 || bytes > kSpareBytes) {
    return gpu_memory(placement, bytes);
  }
  auto& spares = kept().spares;
  const auto found = std::find_if(spares.begin(), spares.end(), [&](const Spare& spare) {
    return same_device(spare.device, placement.device) && spare.library == placement.library &&
           spare.stream == placement.stream;
  });
  if (found == spares.end()) {
    return gpu_memory(placement, kSpareBytes);
  }
  GpuMemory memory = std::move(found->memory);
  spares.erase(found);  // reserved until this run is over
  return memory;
}

void keep_spare(const Placement& placement, const GpuMemory& memory) {
  constexpr size_t kMost = 16;
  auto& spares = kept().spares;
  if (memory.view.bytes != kSpareBytes) {
    return;
  }
  if (spares.size() == kMost) {
    spares.erase(spares.begin());
  }
  spares.push_back({placement.device, placement.library, placement.stream, memory});
}

bool reports_later(const Placement& placement) {
  return !placement.waits && (kept().deferrals > 0 || captures(placement));
}

void defer_verdicts(int change) { kept().deferrals += change; }

void check_verdicts() {
  std::exception_ptr first;
  const std::vector<Verdict> pending = std::exchange(kept().pending, {});
  for (const Verdict& verdict : pending) {
    try_to(first, [&] { check_pending(verdict); });
  }
  const std::vector<Verdict> captured = kept().captured;  // the list may change meanwhile
  for (const Verdict& verdict : captured) {
    try_to(first, [&] { check_captured(verdict); });
  }
  if (first != nullptr) {
    std::rethrow_exception(first);
  }
}

void forget_captured() { kept().captured.clear(); }

void bind_gpu(nb::module_& module) {
  module.def(
      "gpu_name", [] { return gpu::kName; }, "What the backend for GPUs is called.");
  module.def(
      "torch_keys", [] { return nb::make_tuple("CPU", "CUDA"); },
      nb::sig("def torch_keys() -> tuple[str, str]"),
      "The names by which PyTorch's dispatcher knows the devices.");
  module.def(
      "gpu_available", [] { return device_available(gpu::kName); },
      "Whether this build can run on the current device.");
  module.def(
      "gpu_description", [] { return device_description(gpu::kName); },
      "The current device, or why there is none.");
  module.def("gpu_defer", defer_verdicts, "change"_a,
             "Runs do not wait for verdicts while the sum of all changes is positive.");
  module.def("gpu_check", check_verdicts, "Waits for all verdicts that were put off.");
  module.def("gpu_forget", forget_captured, "Lets go of the verdicts of captured graphs.");
}

}  // namespace sheaf::python

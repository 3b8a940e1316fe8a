// SPDX-License-Identifier: MIT
//
// What the handlers for XLA's FFI have in common: errors as codes, and workspaces.
#pragma once

#include <nanobind/nanobind.h>
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "gpu.h"
#include "plan/refuse.h"
#include "sheaf/error.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf::python {

inline constexpr RunOptions kOptions{.output_is_fresh = true};

inline constexpr size_t kAlignment = 256;  // of a workspace; XLA's own buffers have less

inline WorkspaceView aligned_part(void* memory, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const size_t before = (kAlignment - address % kAlignment) % kAlignment;
  if (memory == nullptr || bytes < before) {
    return {};
  }
  return {static_cast<std::byte*>(memory) + before, bytes - before};
}

// XLA's scratch allocator refuses every alignment above 16 bytes.
inline WorkspaceView scratch_memory(xla::ffi::ScratchAllocator& scratch, size_t bytes) {
  constexpr size_t kOffered = 16;
  if (bytes == 0) {
    return {};
  }
  const size_t all = bytes + kAlignment - kOffered;
  const std::optional<void*> memory = scratch.Allocate(all, kOffered);
  if (!memory.has_value()) {
    throw Error(ErrorCode::kOutOfMemory,
                sheaf::refusal_text("jax: no memory for the workspace",
                                    cat("XLA did not allocate ", all, " bytes"), "",
                                    "shapes that are known when the program is compiled"));
  }
  return aligned_part(*memory, all);
}

// XLA has codes instead of exceptions.
template <class Call>
xla::ffi::Error guarded(const Call& call) {
  try {
    call();
    return xla::ffi::Error::Success();
  } catch (const IndexError& error) {
    return xla::ffi::Error(xla::ffi::ErrorCode::kOutOfRange, error.what());
  } catch (const Error& error) {
    const bool memory = error.code() == ErrorCode::kOutOfMemory;
    return xla::ffi::Error(
        memory ? xla::ffi::ErrorCode::kResourceExhausted : xla::ffi::ErrorCode::kInvalidArgument,
        error.what());
  } catch (const std::exception& error) {
    return xla::ffi::Error(xla::ffi::ErrorCode::kInternal, error.what());
  }
}

// The most that any of the GPUs needs: their kernels may differ.
template <class AnyPlan>
size_t workspace_on(const AnyPlan& plan, const std::vector<int>& devices) {
  size_t most = 0;
  for (const int device : devices) {
    const gpu::DeviceGuard guard(device);
    most = std::max(most, workspace_bytes(plan, gpu::queue({}, nullptr), kOptions));
  }
  return most;
}

inline void add_handler(nanobind::dict& all, const char* name, const char* platform,
                        XLA_FFI_Handler* handler) {
  all[cat(name, ".", platform).c_str()] = nanobind::capsule(reinterpret_cast<void*>(handler));
}

// Those of bags (jax/bags.cc).
void add_bag_handlers(nanobind::dict& all);
void bind_jax_bags(nanobind::module_& module);

}  // namespace sheaf::python

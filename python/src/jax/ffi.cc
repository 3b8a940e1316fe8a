// SPDX-License-Identifier: MIT
//
// Handlers for XLA's FFI: what compiled programs of JAX call. Buffers are contiguous. The output of
// a scatter is the buffer of data wherever XLA can arrange that.
//
// Workspace. On a GPU it is one more result of the call, whose size was computed when the program
// was lowered: XLA plans its memory with the rest, and the call can be part of a command buffer (a
// graph), where nothing may be allocated. Where shapes are symbolic the size is not known in time;
// the "unsized" handlers take the workspace from XLA's scratch allocator.
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "gpu.h"
#include "jax/attributes.h"
#include "jax/handlers.h"
#include "plan/refuse.h"
#include "sheaf/error.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

void run_call(const CustomCall& call, const Plan& plan, const Queue& queue) {
  const void* const data = call.data.untyped_data();
  const void* const indices = call.indices.untyped_data();
  void* const output = call.output.untyped_data();
  if (plan.is_scatter()) {
    run(plan, data, indices, call.updates->untyped_data(), output, queue, kOptions);
  } else {
    run(plan, data, indices, output, queue, kOptions);
  }
}

using Buffer = ffi::AnyBuffer;
using Output = ffi::Result<ffi::AnyBuffer>;

void on_host(const CustomCall& call) { run_call(call, make_plan(request_of(call)), {}); }

void on_gpu(const CustomCall& call, void* stream, const Buffer& workspace) {
  const WorkspaceView memory = aligned_part(workspace.untyped_data(), workspace.size_bytes());
  run_call(call, make_plan(request_of(call)), gpu::queue(memory, stream));
}

void on_gpu(const CustomCall& call, void* stream, ffi::ScratchAllocator& scratch) {
  const Plan plan = make_plan(request_of(call));
  Queue queue = gpu::queue({}, stream);
  queue.workspace = scratch_memory(scratch, workspace_bytes(plan, queue, kOptions));
  run_call(call, plan, queue);
}

ffi::Error gather(Buffer data, Buffer indices, Output output, ffi::Dictionary attributes) {
  return guarded([&] { on_host({attributes, data, indices, nullptr, *output, false}); });
}

ffi::Error scatter(Buffer data, Buffer indices, Buffer updates, Output output,
                   ffi::Dictionary attributes) {
  return guarded([&] { on_host({attributes, data, indices, &updates, *output, false}); });
}

ffi::Error gather_on_gpu(void* stream, Buffer data, Buffer indices, Output output, Output workspace,
                         ffi::Dictionary attributes) {
  return guarded([&] {
    on_gpu({attributes, data, indices, nullptr, *output, true}, stream, *workspace);
  });
}

ffi::Error scatter_on_gpu(void* stream, Buffer data, Buffer indices, Buffer updates, Output output,
                          Output workspace, ffi::Dictionary attributes) {
  return guarded([&] {
    on_gpu({attributes, data, indices, &updates, *output, true}, stream, *workspace);
  });
}

ffi::Error gather_unsized(void* stream, ffi::ScratchAllocator scratch, Buffer data, Buffer indices,
                          Output output, ffi::Dictionary attributes) {
  return guarded([&] {
    on_gpu({attributes, data, indices, nullptr, *output, true}, stream, scratch);
  });
}

ffi::Error scatter_unsized(void* stream, ffi::ScratchAllocator scratch, Buffer data, Buffer indices,
                           Buffer updates, Output output, ffi::Dictionary attributes) {
  return guarded([&] {
    on_gpu({attributes, data, indices, &updates, *output, true}, stream, scratch);
  });
}

auto gather_buffers(auto binding) {
  return std::move(binding).template Arg<Buffer>().template Arg<Buffer>().template Ret<Buffer>();
}

auto scatter_buffers(auto binding) {
  return std::move(binding)
      .template Arg<Buffer>()
      .template Arg<Buffer>()
      .template Arg<Buffer>()
      .template Ret<Buffer>();
}

auto with_attributes(auto binding) { return std::move(binding).template Attrs<>(); }

auto with_workspace(auto binding) {
  return with_attributes(std::move(binding).template Ret<Buffer>());
}

auto on_stream() { return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>(); }

auto on_stream_with_scratch() { return on_stream().Ctx<ffi::ScratchAllocator>(); }

XLA_FFI_DEFINE_HANDLER(kGather, gather, with_attributes(gather_buffers(ffi::Ffi::Bind())));
XLA_FFI_DEFINE_HANDLER(kScatter, scatter, with_attributes(scatter_buffers(ffi::Ffi::Bind())));
XLA_FFI_DEFINE_HANDLER(kGatherOnGpu, gather_on_gpu, with_workspace(gather_buffers(on_stream())),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(kScatterOnGpu, scatter_on_gpu, with_workspace(scatter_buffers(on_stream())),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(kGatherUnsized, gather_unsized,
                       with_attributes(gather_buffers(on_stream_with_scratch())));
XLA_FFI_DEFINE_HANDLER(kScatterUnsized, scatter_unsized,
                       with_attributes(scatter_buffers(on_stream_with_scratch())));

nb::dict handlers() {
  nb::dict all;
  const auto add = [&](const char* name, const char* platform, XLA_FFI_Handler* handler) {
    add_handler(all, name, platform, handler);
  };
  add("gather", "cpu", kGather);
  add("scatter", "cpu", kScatter);
  add("gather", gpu::kXlaPlatform, kGatherOnGpu);
  add("scatter", gpu::kXlaPlatform, kScatterOnGpu);
  add("gather_unsized", gpu::kXlaPlatform, kGatherUnsized);
  add("scatter_unsized", gpu::kXlaPlatform, kScatterUnsized);
  add_bag_handlers(all);
  return all;
}

}  // namespace

void bind_jax(nb::module_& module) {
  module.def(
      "has_jax_ffi", [] { return true; }, "Whether compiled programs of JAX can call Sheaf.");
  module.def("jax_handlers", handlers, nb::sig("def jax_handlers() -> dict[str, typing.Any]"),
             "Handlers for XLA's FFI, by name.");
  module.def("jax_workspace", workspace_on<Plan>, nb::arg("plan"), nb::arg("devices"),
             "Bytes that a run of the plan needs on any of these GPUs.");
  bind_jax_bags(module);
}

}  // namespace sheaf::python

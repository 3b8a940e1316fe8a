// SPDX-License-Identifier: MIT
//
// Handlers for XLA's FFI: what compiled programs of JAX call. Buffers are contiguous.
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "gpu.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "sheaf/error.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

struct TypeName {
  ffi::DataType theirs;
  DType ours;
};
constexpr TypeName kTypes[] = {
    {ffi::PRED, boolean},  {ffi::S8, i8},   {ffi::S16, i16},   {ffi::S32, i32},
    {ffi::S64, i64},       {ffi::U8, u8},   {ffi::U16, u16},   {ffi::U32, u32},
    {ffi::U64, u64},       {ffi::F16, f16}, {ffi::BF16, bf16}, {ffi::F32, f32},
    {ffi::F64, f64},       {ffi::C64, c64}, {ffi::C128, c128}, {ffi::F8E4M3FN, f8e4m3},
    {ffi::F8E5M2, f8e5m2},
};

DType dtype_of(ffi::DataType type) {
  for (const TypeName& known : kTypes) {
    if (known.theirs == type) {
      return known.ours;
    }
  }
  throw Error(ErrorCode::kUnsupported,
              sheaf::refusal_text("jax: unsupported element type", "one of XLA's own", "",
                                  "an integer, float or complex type"));
}

TensorSpec spec_of(const ffi::AnyBuffer& buffer) {
  const auto sizes = buffer.dimensions();
  return {dtype_of(buffer.element_type()), Dims(std::span(sizes.begin(), sizes.size()))};
}

// The attributes of a call, and where it runs.
struct Asked {
  std::string_view op;
  int64_t axis, batch_dims;
  std::string_view out_of_range, negative;
  std::string_view reduction = "none";
  bool flag = false;  // broadcast of a gather, include_self of a scatter
  bool on_device = false;
  void* stream = nullptr;
  ffi::ScratchAllocator* scratch = nullptr;
};

// A bad index cannot be reported without waiting for a device: there it is filled or skipped.
OutOfRange rule_from(const Asked& asked, bool scatters) {
  const OutOfRange gentle = scatters ? OutOfRange::kSkip : OutOfRange::kFill;
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                OutOfRange::kSkip, OutOfRange::kWrap, OutOfRange::kTrust}) {
    if (asked.out_of_range == to_string(rule)) {
      return rule == OutOfRange::kFail && asked.on_device ? gentle : rule;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "jax: unknown out_of_range");
}

Reduction reduction_from(std::string_view name) {
  for (const Reduction value : {Reduction::kNone, Reduction::kAdd, Reduction::kSub, Reduction::kMul,
                                Reduction::kMin, Reduction::kMax, Reduction::kMean}) {
    if (name == to_string(value)) {
      return value;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "jax: unknown reduction");
}

Op op_named(std::string_view name) {
  for (const Op op : {Op::kGather, Op::kGatherElements, Op::kGatherNd, Op::kScatter,
                      Op::kScatterElements, Op::kScatterNd}) {
    if (name == to_string(op)) {
      return op;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "jax: unknown operator");
}

struct Operands {
  const ffi::AnyBuffer* data = nullptr;
  const ffi::AnyBuffer* indices = nullptr;
  const ffi::AnyBuffer* updates = nullptr;
  ffi::AnyBuffer* output = nullptr;
};

Request request_for(const Asked& asked, const Operands& operands) {
  Request r;
  r.op = op_named(asked.op);
  r.name = to_string(r.op);
  r.axis = asked.axis;
  r.batch_dims = asked.batch_dims;
  r.broadcast = !is_scatter(r.op) && asked.flag;
  r.include_self = !is_scatter(r.op) || asked.flag;
  r.reduction = reduction_from(asked.reduction);
  r.rule.negative =
      asked.negative == to_string(Negative::kFromEnd) ? Negative::kFromEnd : Negative::kOutOfRange;
  r.rule.out_of_range = rule_from(asked, is_scatter(r.op));
  r.data = spec_of(*operands.data);
  r.indices = spec_of(*operands.indices);
  r.output = spec_of(*operands.output);
  r.output_given = true;
  if (operands.updates != nullptr) {
    r.updates = spec_of(*operands.updates);
  }
  return r;
}

void run_call(const Asked& asked, const Operands& operands) {
  const Plan plan = make_plan(request_for(asked, operands));
  Queue queue;
  const RunOptions options{.output_is_fresh = true};
  if (asked.on_device) {
    queue = gpu::queue({}, asked.stream);
    const size_t bytes = workspace_bytes(plan, queue, options);
    if (bytes != 0) {
      const std::optional<void*> memory = asked.scratch->Allocate(bytes, 256);
      if (!memory.has_value()) {
        throw Error(ErrorCode::kOutOfMemory, "jax: no memory for the workspace");
      }
      queue.workspace = {*memory, bytes};
    }
  }
  const void* data = operands.data->untyped_data();
  const void* indices = operands.indices->untyped_data();
  void* output = operands.output->untyped_data();
  if (plan.is_scatter()) {
    run(plan, data, indices, operands.updates->untyped_data(), output, queue, options);
  } else {
    run(plan, data, indices, output, queue, options);
  }
}

// XLA has codes instead of exceptions.
template <class Call>
ffi::Error guarded(const Call& call) {
  try {
    call();
    return ffi::Error::Success();
  } catch (const IndexError& error) {
    return ffi::Error(ffi::ErrorCode::kOutOfRange, error.what());
  } catch (const Error& error) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
  } catch (const std::exception& error) {
    return ffi::Error(ffi::ErrorCode::kInternal, error.what());
  }
}

Asked gather_asked(std::string_view op, int64_t axis, int64_t batch_dims, int64_t flag,
                   std::string_view out_of_range, std::string_view negative) {
  return {.op = op,
          .axis = axis,
          .batch_dims = batch_dims,
          .out_of_range = out_of_range,
          .negative = negative,
          .flag = flag != 0};
}

ffi::Error gather(ffi::AnyBuffer data, ffi::AnyBuffer indices, ffi::Result<ffi::AnyBuffer> output,
                  std::string_view op, int64_t axis, int64_t batch_dims, int64_t flag,
                  std::string_view out_of_range, std::string_view negative) {
  return guarded([&] {
    run_call(gather_asked(op, axis, batch_dims, flag, out_of_range, negative),
             {&data, &indices, nullptr, &*output});
  });
}

ffi::Error gather_on_gpu(void* stream, ffi::ScratchAllocator scratch, ffi::AnyBuffer data,
                         ffi::AnyBuffer indices, ffi::Result<ffi::AnyBuffer> output,
                         std::string_view op, int64_t axis, int64_t batch_dims, int64_t flag,
                         std::string_view out_of_range, std::string_view negative) {
  return guarded([&] {
    Asked asked = gather_asked(op, axis, batch_dims, flag, out_of_range, negative);
    asked.on_device = true;
    asked.stream = stream;
    asked.scratch = &scratch;
    run_call(asked, {&data, &indices, nullptr, &*output});
  });
}

ffi::Error scatter(ffi::AnyBuffer data, ffi::AnyBuffer indices, ffi::AnyBuffer updates,
                   ffi::Result<ffi::AnyBuffer> output, std::string_view op, int64_t axis,
                   int64_t batch_dims, int64_t flag, std::string_view out_of_range,
                   std::string_view negative, std::string_view reduction) {
  return guarded([&] {
    Asked asked = gather_asked(op, axis, batch_dims, flag, out_of_range, negative);
    asked.reduction = reduction;
    run_call(asked, {&data, &indices, &updates, &*output});
  });
}

ffi::Error scatter_on_gpu(void* stream, ffi::ScratchAllocator scratch, ffi::AnyBuffer data,
                          ffi::AnyBuffer indices, ffi::AnyBuffer updates,
                          ffi::Result<ffi::AnyBuffer> output, std::string_view op, int64_t axis,
                          int64_t batch_dims, int64_t flag, std::string_view out_of_range,
                          std::string_view negative, std::string_view reduction) {
  return guarded([&] {
    Asked asked = gather_asked(op, axis, batch_dims, flag, out_of_range, negative);
    asked.reduction = reduction;
    asked.on_device = true;
    asked.stream = stream;
    asked.scratch = &scratch;
    run_call(asked, {&data, &indices, &updates, &*output});
  });
}

auto gather_attributes(auto binding) {
  return std::move(binding)
      .template Attr<std::string_view>("op")
      .template Attr<int64_t>("axis")
      .template Attr<int64_t>("batch_dims")
      .template Attr<int64_t>("flag")
      .template Attr<std::string_view>("out_of_range")
      .template Attr<std::string_view>("negative");
}

auto gather_binding(auto binding) {
  return gather_attributes(std::move(binding)
                               .template Arg<ffi::AnyBuffer>()
                               .template Arg<ffi::AnyBuffer>()
                               .template Ret<ffi::AnyBuffer>());
}

auto scatter_binding(auto binding) {
  return gather_attributes(std::move(binding)
                               .template Arg<ffi::AnyBuffer>()
                               .template Arg<ffi::AnyBuffer>()
                               .template Arg<ffi::AnyBuffer>()
                               .template Ret<ffi::AnyBuffer>())
      .template Attr<std::string_view>("reduction");
}

auto on_stream() {
  return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::ScratchAllocator>();
}

XLA_FFI_DEFINE_HANDLER(kGather, gather, gather_binding(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(kScatter, scatter, scatter_binding(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(kGatherOnGpu, gather_on_gpu, gather_binding(on_stream()));
XLA_FFI_DEFINE_HANDLER(kScatterOnGpu, scatter_on_gpu, scatter_binding(on_stream()));

nb::capsule capsule_of(XLA_FFI_Handler* handler) {
  return nb::capsule(reinterpret_cast<void*>(handler));
}

}  // namespace

void bind_jax(nb::module_& module) {
  module.def(
      "has_jax_ffi", [] { return true; }, "Whether compiled programs of JAX can call Sheaf.");
  module.def(
      "jax_handlers",
      [] {
        nb::dict handlers;
        handlers["gather.cpu"] = capsule_of(kGather);
        handlers["scatter.cpu"] = capsule_of(kScatter);
        handlers[cat("gather.", gpu::kXlaPlatform).c_str()] = capsule_of(kGatherOnGpu);
        handlers[cat("scatter.", gpu::kXlaPlatform).c_str()] = capsule_of(kScatterOnGpu);
        return handlers;
      },
      nb::sig("def jax_handlers() -> dict[str, typing.Any]"), "Handlers for XLA's FFI, by name.");
}

}  // namespace sheaf::python

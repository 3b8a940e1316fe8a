// SPDX-License-Identifier: MIT
//
// Bags in compiled programs of JAX. A call has as many buffers as the bag has tensors: the
// attribute "tensors" names them in order.
#include <nanobind/stl/vector.h>
#include <xla/ffi/api/ffi.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "jax/handlers.h"
#include "jax/reading.h"
#include "plan/bag.h"
#include "plan/vocabulary.h"
#include "sheaf/bag_gradient.h"

namespace sheaf::python {
namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

using Buffer = ffi::AnyBuffer;
using Output = ffi::Result<ffi::AnyBuffer>;

// The buffers of a call, by the names of the tensors.
class Tensors {
 public:
  Tensors(const ffi::RemainingArgs& arguments, const ffi::Dictionary& attributes) {
    const auto names = attribute<std::string_view>(attributes, "tensors");
    size_t begin = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const size_t end = std::min(names.find(' ', begin), names.size());
      const auto buffer = arguments.get<Buffer>(i);
      if (!buffer.has_value() || begin >= names.size()) {
        refuse_call("tensors without names", cat("tensors = \"", names, "\""),
                    "the functions of sheaf.jax, which name all of them");
      }
      buffers_.emplace(std::string(names.substr(begin, end - begin)), *buffer);
      begin = end + 1;
    }
  }

  std::optional<TensorSpec> spec(const char* name) const {
    const auto found = buffers_.find(name);
    return found == buffers_.end() ? std::nullopt : std::optional(spec_of(found->second));
  }

  const void* memory(const char* name) const {
    const auto found = buffers_.find(name);
    return found == buffers_.end() ? nullptr : found->second.untyped_data();
  }

 private:
  std::map<std::string, Buffer> buffers_;
};

EncodedSpec table_of(const Tensors& tensors, const ffi::Dictionary& attributes) {
  const auto data = tensors.spec("data");
  if (!data) {
    refuse_call("no data", "a bag without a table", "the functions of sheaf.jax");
  }
  EncodedSpec table = *data;
  table.encoding =
      encoding_from_name(std::string(attribute<std::string_view>(attributes, "encoding")));
  if (table.encoding == Encoding::kPlain) {
    return table;
  }
  const auto sizes = attribute<ffi::Span<const int64_t>>(attributes, "table_shape");
  table.sizes = Dims(std::span(sizes.begin(), sizes.size()));
  table.scales = tensors.spec("scales");
  table.zeros = tensors.spec("zeros");
  table.block = attribute<int64_t>(attributes, "block");
  table.axis = attribute<int64_t>(attributes, "axis");
  table.usual_zero = attribute<int64_t>(attributes, "usual_zero");
  return table;
}

// On a device a bad index cannot be reported without a wait: under "fail" it is left out.
IndexRule rule_of(const ffi::Dictionary& attributes, bool on_device) {
  IndexRule rule;
  rule.negative = named(attributes, "negative", kNegatives).value;
  rule.out_of_range = named(attributes, "out_of_range", kOutOfRanges).value;
  if (rule.out_of_range == OutOfRange::kFail && on_device) {
    rule.out_of_range = OutOfRange::kSkip;
  }
  return rule;
}

// `type` is that of the bag's output.
BagOptions options_of(const ffi::Dictionary& attributes, DType type, bool on_device) {
  BagOptions o;
  o.pool = named(attributes, "pool", kPools).value;
  o.segments = named(attributes, "form", kSegmentForms).value;
  o.last_offset = flag(attributes, "last_offset");
  o.bags = attribute<int64_t>(attributes, "bags");
  o.accumulate_f32 = flag(attributes, "accumulate_f32");
  o.output_type = type;
  o.empty_value = number_of(attributes, "empty", type);
  o.rule = rule_of(attributes, on_device);
  if (o.rule.out_of_range == OutOfRange::kFill) {
    o.rule.fill_value = number_of(attributes, "fill", type);
  }
  if (flag(attributes, "has_padding")) {
    o.padding_index = attribute<int64_t>(attributes, "padding_index");
  }
  return o;
}

BagPlan plan_of(const Tensors& tensors, const ffi::Dictionary& attributes, const Buffer& output,
                bool on_device) {
  BagRequest r;
  r.specs = {table_of(tensors, attributes), tensors.spec("indices"), tensors.spec("segments"),
             tensors.spec("weights")};
  r.output = spec_of(output);
  r.options = options_of(attributes, r.output->dtype, on_device);
  return make_bag_plan(r);
}

BagMemory memory_of(const Tensors& tensors, const Buffer& output) {
  return {tensors.memory("data"),    tensors.memory("scales"),   tensors.memory("zeros"),
          tensors.memory("indices"), tensors.memory("segments"), tensors.memory("weights"),
          output.untyped_data()};
}

ffi::Error bag(ffi::RemainingArgs arguments, Output output, ffi::Dictionary attributes) {
  return guarded([&] {
    const Tensors tensors(arguments, attributes);
    plan_of(tensors, attributes, *output, false).run(memory_of(tensors, *output), kOptions);
  });
}

// The gradient of the table, for that of a bag's output: a plan of its own, on the host.
ffi::Error bag_gradient(ffi::RemainingArgs arguments, Output output, ffi::Dictionary attributes) {
  return guarded([&] {
    const Tensors tensors(arguments, attributes);
    const auto gradient = tensors.spec("gradient");
    if (!gradient) {
      refuse_call("no gradient", "of the bag's output", "the functions of sheaf.jax");
    }
    BagRequest r;
    r.specs = {EncodedSpec(spec_of(*output)), tensors.spec("indices"), tensors.spec("segments"),
               tensors.spec("weights")};
    r.options = options_of(attributes, gradient->dtype, false);
    const BagGradientPlan plan =
        plan_bag_gradient(make_bag_plan(r), BagGradientOf::kData, {.gradient = gradient});
    const BagGradientMemory memory{.bag = {.indices = tensors.memory("indices"),
                                           .segments = tensors.memory("segments"),
                                           .weights = tensors.memory("weights")},
                                   .gradient = tensors.memory("gradient"),
                                   .output = output->untyped_data()};
    plan.run(plan.entries(memory.bag), memory, kOptions);
  });
}

ffi::Error bag_on_gpu(void* stream, ffi::RemainingArgs arguments, Output output, Output workspace,
                      ffi::Dictionary attributes) {
  return guarded([&] {
    const Tensors tensors(arguments, attributes);
    const WorkspaceView memory = aligned_part(workspace->untyped_data(), workspace->size_bytes());
    run(plan_of(tensors, attributes, *output, true), memory_of(tensors, *output),
        gpu::queue(memory, stream), kOptions);
  });
}

ffi::Error bag_unsized(void* stream, ffi::ScratchAllocator scratch, ffi::RemainingArgs arguments,
                       Output output, ffi::Dictionary attributes) {
  return guarded([&] {
    const Tensors tensors(arguments, attributes);
    const BagPlan plan = plan_of(tensors, attributes, *output, true);
    Queue queue = gpu::queue({}, stream);
    queue.workspace = scratch_memory(scratch, workspace_bytes(plan, queue, kOptions));
    run(plan, memory_of(tensors, *output), queue, kOptions);
  });
}

XLA_FFI_DEFINE_HANDLER(kBag, bag, ffi::Ffi::Bind().RemainingArgs().Ret<Buffer>().Attrs<>());
XLA_FFI_DEFINE_HANDLER(kBagGradient, bag_gradient,
                       ffi::Ffi::Bind().RemainingArgs().Ret<Buffer>().Attrs<>());
XLA_FFI_DEFINE_HANDLER(kBagOnGpu, bag_on_gpu,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .RemainingArgs()
                           .Ret<Buffer>()
                           .Ret<Buffer>()
                           .Attrs<>(),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(kBagUnsized, bag_unsized,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .Ctx<ffi::ScratchAllocator>()
                           .RemainingArgs()
                           .Ret<Buffer>()
                           .Attrs<>());

}  // namespace

void add_bag_handlers(nb::dict& all) {
  add_handler(all, "bag", "cpu", kBag);
  add_handler(all, "bag_gradient", "cpu", kBagGradient);
  add_handler(all, "bag", gpu::kXlaPlatform, kBagOnGpu);
  add_handler(all, "bag_unsized", gpu::kXlaPlatform, kBagUnsized);
}

void bind_jax_bags(nb::module_& module) {
  module.def("jax_bag_workspace", workspace_on<BagPlan>, nb::arg("plan"), nb::arg("devices"),
             "Bytes that a run of the plan needs on any of these GPUs.");
}

}  // namespace sheaf::python

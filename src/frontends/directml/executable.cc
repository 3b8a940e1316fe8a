// SPDX-License-Identifier: MIT
#include "frontends/directml/executable.h"

#include <cstdint>
#include <span>

#include "moves/moves.h"
#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

constexpr UINT kOutputCount = 1;

// What a buffer binding has to satisfy.
struct Demand {
  const char* name;
  UINT64 bytes, alignment;
  bool written;
};

bool is_none(const DML_BINDING_DESC& binding) { return binding.Type == DML_BINDING_TYPE_NONE; }

const DML_BUFFER_BINDING& buffer_binding(const Request& r, const DML_BINDING_DESC& binding,
                                         const Demand& demand) {
  if (binding.Type != DML_BINDING_TYPE_BUFFER) {
    sheaf::refuse(r, {Reason::kMemory}, "not bound",
                  cat(demand.name, " has a binding of Type ", int32_t{binding.Type}),
                  "DML_BINDING_TYPE_BUFFER (1)");
  }
  const auto* buffer = static_cast<const DML_BUFFER_BINDING*>(binding.Desc);
  if (buffer == nullptr || buffer->Buffer == nullptr || buffer->Buffer->data() == nullptr) {
    const char* null = buffer == nullptr           ? " has a binding whose Desc is null"
                       : buffer->Buffer == nullptr ? " is bound to a null Buffer"
                                                   : " is bound to a buffer without memory";
    sheaf::refuse(r, {Reason::kNull}, "null pointer", cat(demand.name, null),
                  "bind a HostBuffer with memory");
  }
  return *buffer;
}

void check_range(const Request& r, const DML_BUFFER_BINDING& binding, const Demand& demand) {
  const UINT64 available = binding.Buffer->size_in_bytes();
  // Written so that no sum can wrap.
  if (binding.Offset > available || binding.SizeInBytes > available - binding.Offset) {
    sheaf::refuse(r, {Reason::kMemory}, "binding outside its buffer",
                  cat(demand.name, " has Offset ", binding.Offset, " and SizeInBytes ",
                      binding.SizeInBytes, ", but the buffer has ", available, " bytes"),
                  "a range inside the buffer");
  }
  if (binding.SizeInBytes < demand.bytes) {
    sheaf::refuse(
        r, {Reason::kMemory}, "binding too small",
        cat(demand.name, " has SizeInBytes ", binding.SizeInBytes, ", but needs ", demand.bytes),
        "as many bytes as TotalTensorSizeInBytes or PersistentResourceSize says");
  }
  if (binding.Offset % demand.alignment != 0) {
    sheaf::refuse(r, {Reason::kMemory}, "binding not aligned",
                  cat(demand.name, " has Offset ", binding.Offset, ", which is no multiple of ",
                      demand.alignment),
                  cat("an Offset that is a multiple of ", demand.alignment));
  }
}

// The memory of a binding, after all checks.
std::byte* bound_memory(const Request& r, const DML_BINDING_DESC& binding, const Demand& demand) {
  const DML_BUFFER_BINDING& buffer = buffer_binding(r, binding, demand);
  check_range(r, buffer, demand);
  if (demand.written && !buffer.Buffer->writable()) {
    sheaf::refuse(r, {Reason::kMemory}, "buffer is read-only",
                  cat(demand.name, " is bound to a HostBuffer made from a const pointer"),
                  "a HostBuffer of memory that may be written");
  }
  return static_cast<std::byte*>(buffer.Buffer->data()) + buffer.Offset;
}

// TotalTensorSizeInBytes is rounded up to 4 bytes. Host memory need not be: no byte after the last
// element is touched.
Demand demand_of(const BoundTensor& tensor, bool written) {
  const bool rounded = tensor.total_bytes - tensor.required_bytes < 4;
  return {tensor.name, rounded ? tensor.required_bytes : tensor.total_bytes, tensor.alignment,
          written};
}

void check_count(const Request& r, const char* what, UINT count, UINT expected) {
  if (count != expected) {
    sheaf::refuse(r, {Reason::kMemory}, "wrong number of bindings",
                  cat(count, " ", what, " are bound, but this operator has ", expected),
                  is_scatter(r.op)
                      ? "inputs InputTensor, IndicesTensor, UpdatesTensor; output OutputTensor"
                      : "inputs InputTensor, IndicesTensor; output OutputTensor");
  }
}

void check_list(const Request& r, const char* what, const DML_BINDING_DESC* list) {
  if (list == nullptr) {
    sheaf::refuse(r, {Reason::kNull}, "null pointer", cat("the list of ", what, " is null"),
                  "one DML_BINDING_DESC for each");
  }
}

}  // namespace

Executable::Executable(const Plan& plan, const Tensors& tensors)
    : plan_(plan),
      input_count_(plan.is_scatter() ? 3 : 2),
      inputs_{BoundTensor(tensors.input), BoundTensor(tensors.indices),
              BoundTensor(tensors.updates)},
      output_(tensors.output) {
  constexpr UINT64 kAlignment = DML_PERSISTENT_BUFFER_ALIGNMENT;
  for (BoundTensor& input : std::span(inputs_, input_count_)) {
    if (input.owned) {
      input.persistent_offset = persistent_bytes_;
      // The sum cannot wrap: both are at most 2^63.
      persistent_bytes_ += (input.required_bytes + kAlignment - 1) / kAlignment * kAlignment;
      if (persistent_bytes_ > INT64_MAX) {
        sheaf::refuse(plan.request(), {Reason::kTooLarge}, "tensors too large",
                      "the inputs that are OWNED_BY_DML need more than 2^63 - 1 bytes together",
                      "fewer inputs that are OWNED_BY_DML");
      }
    }
  }
}

const DML_BINDING_DESC* Executable::input_bindings(const Bindings& bindings) const {
  check_count(plan_.request(), "inputs", bindings.InputCount, input_count_);
  check_list(plan_.request(), "inputs", bindings.Inputs);
  return bindings.Inputs;
}

std::byte* Executable::persistent_memory(const Bindings& bindings, bool written) const {
  const DML_BINDING_DESC* binding = bindings.PersistentResource;
  const bool bound = binding != nullptr && !is_none(*binding);
  if (persistent_bytes_ == 0) {
    if (bound) {
      sheaf::refuse(plan_.request(), {Reason::kMemory}, "needless persistent resource",
                    "PersistentResource is bound, but no tensor is OWNED_BY_DML",
                    "null, as PersistentResourceSize is 0");
    }
    return nullptr;
  }
  if (!bound) {
    sheaf::refuse(
        plan_.request(), {Reason::kMemory}, "persistent resource not bound",
        cat("a tensor is OWNED_BY_DML, and its ", persistent_bytes_, " bytes are kept there"),
        "a buffer of PersistentResourceSize bytes");
  }
  return bound_memory(
      plan_.request(), *binding,
      {"PersistentResource", persistent_bytes_, DML_PERSISTENT_BUFFER_ALIGNMENT, written});
}

void Executable::initialize(const Bindings& bindings, const Queue& queue) const {
  const Request& r = plan_.request();
  std::byte* persistent = persistent_memory(bindings, true);
  if (persistent == nullptr && bindings.InputCount == 0) {
    return;  // nothing is owned, and nothing was bound
  }
  const DML_BINDING_DESC* list = input_bindings(bindings);
  const std::byte* sources[kMaxInputs] = {};
  for (UINT i = 0; i < input_count_; ++i) {  // all checks come before the first byte is written
    const BoundTensor& input = inputs_[i];
    if (!input.owned) {
      if (!is_none(list[i])) {
        sheaf::refuse(r, {Reason::kMemory}, "bound at initialisation",
                      cat(input.name, " is not OWNED_BY_DML; it is bound when dispatched"),
                      "DML_BINDING_TYPE_NONE (0)");
      }
      continue;
    }
    sources[i] = bound_memory(r, list[i], demand_of(input, false));
    const ByteRange source{0, static_cast<int64_t>(input.required_bytes)};
    const ByteRange target{0, static_cast<int64_t>(persistent_bytes_)};
    if (ranges_meet(sources[i], source, persistent, target)) {
      sheaf::refuse(r, {Reason::kMemory}, "persistent resource overlaps an input",
                    cat("PersistentResource and ", input.name, " share memory"),
                    "memory of its own");
    }
  }
  for (UINT i = 0; i < input_count_ && persistent != nullptr; ++i) {
    if (inputs_[i].owned) {
      const TensorSpec bytes(u8, {static_cast<int64_t>(inputs_[i].required_bytes)});
      const void* from[] = {sources[i]};
      void* to[] = {persistent + inputs_[i].persistent_offset};
      moves::copy("InitializeOperator", bytes, bytes)(from, to, queue);
    }
  }
}

// An owned InputTensor in the same place as the output would pass for a scatter in place, and the
// next dispatch would start from this one's result.
void Executable::refuse_output_in(const std::byte* persistent, const std::byte* output) const {
  const ByteRange kept{0, static_cast<int64_t>(persistent_bytes_)};
  const ByteRange written{0, static_cast<int64_t>(output_.required_bytes)};
  if (persistent != nullptr && ranges_meet(persistent, kept, output, written)) {
    sheaf::refuse(plan_.request(), {Reason::kMemory}, "output overlaps the persistent resource",
                  "OutputTensor and PersistentResource share memory", "memory of its own");
  }
}

void Executable::dispatch(const Bindings& bindings, const Queue& queue) const {
  const Request& r = plan_.request();
  const DML_BINDING_DESC* list = input_bindings(bindings);
  check_count(r, "outputs", bindings.OutputCount, kOutputCount);
  check_list(r, "outputs", bindings.Outputs);
  const std::byte* persistent = persistent_memory(bindings, false);
  const std::byte* sources[kMaxInputs] = {};
  for (UINT i = 0; i < input_count_; ++i) {
    const BoundTensor& input = inputs_[i];
    if (!input.owned) {
      sources[i] = bound_memory(r, list[i], demand_of(input, false));
    } else if (is_none(list[i])) {
      sources[i] = persistent + input.persistent_offset;
    } else {
      sheaf::refuse(r, {Reason::kMemory}, "owned tensor bound",
                    cat(input.name, " is OWNED_BY_DML; it is bound at initialisation only"),
                    "DML_BINDING_TYPE_NONE (0)");
    }
  }
  std::byte* output = bound_memory(r, bindings.Outputs[0], demand_of(output_, true));
  if (plan_.is_scatter()) {
    refuse_output_in(persistent, output);
    run(plan_, sources[0], sources[1], sources[2], output, queue);
  } else {
    run(plan_, sources[0], sources[1], output, queue);
  }
}

}  // namespace sheaf::dml::detail

// SPDX-License-Identifier: MIT
//
// The command recorder: bindings are checked when a dispatch is recorded or, where they come late,
// when its list is submitted.
#include <algorithm>

#include "extents.h"
#include "objects.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

[[noreturn]] void refuse(const Program& program, const std::string& what, const std::string& detail,
                         const std::string& next) {
  dml::detail::refuse({.who = program.name(),
                       .what = what,
                       .detail = detail,
                       .given = cat(program.inputs().size(), " inputs   ", program.outputs().size(),
                                    " outputs   temporary ", program.temporary_bytes(),
                                    " bytes   persistent ", program.persistent_bytes(), " bytes"),
                       .next = next});
}

// What a range has to satisfy.
struct Demand {
  std::string name;
  UINT64 bytes, alignment;
  bool written;
};

Demand demand_of(const Slot& slot, bool written) {
  // TotalTensorSizeInBytes is rounded up to 4 bytes; no byte after the last element is touched.
  const bool rounded = slot.total_bytes - slot.required_bytes < 4;
  return {slot.name, rounded ? slot.required_bytes : slot.total_bytes, slot.alignment, written};
}

// A range of a buffer, on the host or on a device.
struct Place {
  d3d12::BufferMemory memory{};
  UINT64 offset = 0, bytes = 0;

  std::byte* address() const { return memory.data == nullptr ? nullptr : memory.data + offset; }
};

Place checked_range(const Program& program, const Binding& binding, const Demand& demand) {
  const auto memory =
      d3d12::private_view<d3d12::BufferMemory>(binding.buffer.get(), d3d12::kBufferMemory);
  if (memory.data == nullptr) {
    refuse(program, "no buffer",
           cat(demand.name, " is bound to ",
               binding.buffer ? "a resource of another Direct3D" : "a null Buffer"),
           "a buffer that the parent device created");
  }
  // Written so that no sum can wrap.
  if (binding.offset > memory.bytes || binding.bytes > memory.bytes - binding.offset) {
    refuse(program, "binding outside its buffer",
           cat(demand.name, " has Offset ", binding.offset, " and SizeInBytes ", binding.bytes,
               ", but the buffer has ", memory.bytes, " bytes"),
           "a range inside the buffer");
  }
  if (binding.bytes < demand.bytes) {
    refuse(program, "binding too small",
           cat(demand.name, " has SizeInBytes ", binding.bytes, ", but needs ", demand.bytes),
           "as many bytes as TotalTensorSizeInBytes or the binding properties say");
  }
  if (binding.offset % demand.alignment != 0) {
    refuse(program, "binding not aligned",
           cat(demand.name, " has Offset ", binding.offset, ", which is no multiple of ",
               demand.alignment),
           cat("an Offset that is a multiple of ", demand.alignment));
  }
  if (demand.written && !memory.written_by_commands) {
    refuse(program, "upload buffer", cat(demand.name, " is bound to a buffer of an upload heap"),
           "a buffer of D3D12_HEAP_TYPE_DEFAULT");
  }
  return {memory, binding.offset, demand.bytes};
}

Place checked_binding(const Program& program, const BoundList& list, const Demand& demand) {
  if (list.type != DML_BINDING_TYPE_BUFFER) {
    refuse(program, "not bound",
           cat(demand.name, " has a binding of Type ", static_cast<int>(list.type)),
           "DML_BINDING_TYPE_BUFFER (1)");
  }
  return checked_range(program, list.ranges[0], demand);
}

bool is_none(const BoundList& list) {
  return list.type == DML_BINDING_TYPE_NONE || list.ranges.empty() ||
         (list.ranges.size() == 1 && !list.ranges[0].buffer && list.ranges[0].bytes == 0);
}

// A resource that is needed only where `bytes` is not 0. One that is bound without need is left
// alone: many programs bind what they have.
Place resource(const Program& program, const BoundList& list, const Demand& demand) {
  return demand.bytes == 0 ? Place{} : checked_binding(program, list, demand);
}

void check_count(const Program& program, const char* what, size_t count, size_t expected) {
  if (count != expected) {
    refuse(program, "wrong number of bindings",
           cat(count, " ", what, " are bound, but there are ", expected), "one binding for each");
  }
}

// The memory of one execution, and what keeps it alive.
struct Execution {
  std::shared_ptr<const Program> program;
  std::vector<Place> inputs, outputs;  // an input that leads nowhere has no memory
  Place temporary;
  std::vector<com::Ref<ID3D12Resource>> buffers;

  void keep(const BoundList& list) {
    for (const Binding& range : list.ranges) {
      buffers.push_back(range.buffer);
    }
  }
};

// The device that all of its memory is on; null if some is host memory, or of another device.
const char* common_device(const Execution& e) {
  const char* device = nullptr;
  const auto elsewhere = [&](const Place& place) {
    if (place.memory.data == nullptr) {
      return false;
    }
    device = device == nullptr ? place.memory.device : device;
    return place.memory.on_device == nullptr || place.memory.device != device;
  };
  const bool some_elsewhere = std::any_of(e.inputs.begin(), e.inputs.end(), elsewhere) ||
                              std::any_of(e.outputs.begin(), e.outputs.end(), elsewhere) ||
                              elsewhere(e.temporary);
  return some_elsewhere ? nullptr : device;
}

// Runs on host memory, on copies of what lies on a device: for tensors in both.
void run_on_host(const Execution& e) {
  std::vector<std::vector<std::byte>> copies;
  const auto host_address = [&](const Place& place) {
    if (place.memory.on_device == nullptr) {
      return place.address();
    }
    copies.emplace_back(static_cast<size_t>(place.bytes));
    place.memory.download(copies.back().data(), place.bytes, place.offset);
    return copies.back().data();
  };
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Place& place : e.inputs) {
    inputs.push_back(host_address(place));
  }
  for (const Place& place : e.outputs) {
    outputs.push_back(host_address(place));
  }
  e.program->run(inputs, outputs, host_address(e.temporary), {});
  for (size_t i = 0; i < e.outputs.size(); ++i) {
    const Place& place = e.outputs[i];
    if (place.memory.on_device != nullptr) {
      place.memory.upload(outputs[i], place.bytes, place.offset);
    }
  }
}

void run(const Execution& e) {
  const char* device = common_device(e);
  if (device == nullptr) {
    return run_on_host(e);
  }
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Place& place : e.inputs) {
    inputs.push_back(place.address());
  }
  for (const Place& place : e.outputs) {
    outputs.push_back(place.address());
  }
  e.program->run(inputs, outputs, e.temporary.address(), {.device = device});
}

const std::string kTemporary = "the temporary resource";
const std::string kPersistent = "the persistent resource";

void refuse_overlap(const Program& program, std::vector<Extent> extents) {
  if (const auto pair = find_overlap(std::move(extents))) {
    refuse(program, "memory overlaps", cat(pair->first, " and ", pair->second, " share memory"),
           "memory of its own for each");
  }
}

// Outputs are apart from each other and from the resources. Inputs are apart from the temporary
// resource and, unless the operator itself looks at that, from the outputs.
void check_apart(const Execution& e, const Place& persistent) {
  const Program& program = *e.program;
  std::vector<Extent> inputs, outputs;
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    const Slot& slot = program.inputs()[i];
    if (!slot.owned) {  // those lie in the persistent resource
      inputs.push_back({e.inputs[i].address(), slot.required_bytes, &slot.name, false});
    }
  }
  for (size_t o = 0; o < e.outputs.size(); ++o) {
    const Slot& slot = program.outputs()[o];
    outputs.push_back({e.outputs[o].address(), slot.required_bytes, &slot.name, true});
  }
  const Extent temporary{e.temporary.address(), program.temporary_bytes(), &kTemporary, true};
  const Extent kept{persistent.address(), program.persistent_bytes(), &kPersistent, false};
  std::vector<Extent> read = inputs;
  read.push_back(temporary);
  read.push_back(kept);
  refuse_overlap(program, read);
  std::erase_if(inputs, [&](const Extent& input) {
    return program.sharing() == Sharing::kOperator ||
           (program.sharing() == Sharing::kInPlace && input.begin == outputs[0].begin);
  });
  std::vector<Extent> all = std::move(inputs);
  all.insert(all.end(), outputs.begin(), outputs.end());
  all.push_back(temporary);
  all.push_back(kept);
  refuse_overlap(program, std::move(all));
}

d3d12::Command execution_command(const std::shared_ptr<const Program>& shared,
                                 const Bindings& bound, com::Ref<DeviceState> device) {
  const Program& program = *shared;
  Execution e;
  e.program = shared;
  check_count(program, "inputs", bound.inputs.size(), program.inputs().size());
  check_count(program, "outputs", bound.outputs.size(), program.outputs().size());
  const Place persistent =
      resource(program, bound.persistent,
               {kPersistent, program.persistent_bytes(), DML_PERSISTENT_BUFFER_ALIGNMENT, false});
  e.temporary =
      resource(program, bound.temporary,
               {kTemporary, program.temporary_bytes(), DML_TEMPORARY_BUFFER_ALIGNMENT, true});
  for (size_t i = 0; i < program.inputs().size(); ++i) {
    const Slot& slot = program.inputs()[i];
    const BoundList& list = bound.inputs[i];
    e.keep(list);
    if (slot.owned && !is_none(list)) {
      refuse(program, "owned tensor bound",
             cat(slot.name, " is OWNED_BY_DML; it is bound at initialisation only"),
             "DML_BINDING_TYPE_NONE (0)");
    }
    if (slot.owned) {
      e.inputs.push_back(
          {persistent.memory, persistent.offset + slot.persistent_offset, slot.required_bytes});
    } else {
      e.inputs.push_back(slot.used ? checked_binding(program, list, demand_of(slot, false))
                                   : Place{});
    }
  }
  for (size_t i = 0; i < program.outputs().size(); ++i) {
    e.outputs.push_back(
        checked_binding(program, bound.outputs[i], demand_of(program.outputs()[i], true)));
    e.keep(bound.outputs[i]);
  }
  e.keep(bound.temporary);
  e.keep(bound.persistent);
  check_apart(e, persistent);
  return [e = std::move(e), device = std::move(device)] { device->guarded_void([&] { run(e); }); };
}

// The same with the bindings of the moment when the list is submitted. If they are wrong the device
// is removed, and there is no command.
d3d12::LateCommand late_command(const std::shared_ptr<const Program>& program,
                                const std::shared_ptr<Descriptors>& descriptors,
                                const com::Ref<DeviceState>& device) {
  return [=] {
    d3d12::Command command;
    device->guarded_void(
        [&] { command = execution_command(program, descriptors->read(), device); });
    return command;
  };
}

struct Copy {
  Place to, from;
};

// What an initializer does: copies, of which none may read what another wrote.
struct Initialization {
  std::vector<Copy> copies;
  std::vector<com::Ref<ID3D12Resource>> buffers;  // kept alive
  std::vector<Extent> extents;
};

// The owned inputs of one operator go into its persistent resource, which is bound as an output.
void add_initialization(const Program& program, const BoundList& inputs, const BoundList& output,
                        Initialization& all) {
  if (program.persistent_bytes() == 0) {
    return;
  }
  const Place persistent = checked_binding(
      program, output,
      {kPersistent, program.persistent_bytes(), DML_PERSISTENT_BUFFER_ALIGNMENT, true});
  check_count(program, "inputs", inputs.ranges.size(), program.inputs().size());
  all.extents.push_back({persistent.address(), program.persistent_bytes(), &kPersistent, true});
  for (size_t i = 0; i < program.inputs().size(); ++i) {
    const Slot& slot = program.inputs()[i];
    if (!slot.owned) {
      continue;
    }
    const Place from = checked_range(program, inputs.ranges[i], demand_of(slot, false));
    all.extents.push_back({from.address(), slot.required_bytes, &slot.name, false});
    all.copies.push_back(
        {{persistent.memory, persistent.offset + slot.persistent_offset, slot.required_bytes},
         from});
  }
}

d3d12::Command initialization_command(const OperatorInitializer& initializer,
                                      const Bindings& bound) {
  Initialization all;
  const auto& programs = initializer.programs();
  for (size_t i = 0; i < programs.size(); ++i) {
    const BoundList none;
    const BoundList& inputs = i < bound.inputs.size() ? bound.inputs[i] : none;
    const BoundList& output = i < bound.outputs.size() ? bound.outputs[i] : none;
    add_initialization(*programs[i], inputs, output, all);
    for (const BoundList* list : {&inputs, &output}) {
      for (const Binding& range : list->ranges) {
        all.buffers.push_back(range.buffer);
      }
    }
  }
  if (!programs.empty()) {
    refuse_overlap(*programs.front(), std::move(all.extents));
  }
  return [copies = std::move(all.copies), buffers = std::move(all.buffers)] {
    for (const auto& [to, from] : copies) {
      d3d12::copy_bytes(to.memory, to.offset, from.memory, from.offset, to.bytes);
    }
  };
}

}  // namespace

void CommandRecorder::RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                                     IDMLBindingTable* bindings) {
  device()->guarded_void([&] {
    auto* recorder = d3d12::private_view<d3d12::Recorder*>(list, d3d12::kRecorder);
    const auto& table = checked_cast<BindingTable>(device(), "RecordDispatch", bindings);
    if (recorder == nullptr || dispatchable == nullptr || table.dispatchable() != dispatchable) {
      refuse_binding("RecordDispatch",
                     recorder == nullptr ? "the command list is null or of another Direct3D"
                                         : "the binding table was made for another dispatchable",
                     "a list of the parent device, and the table that was reset for this one");
    }
    if (auto* initializer = dynamic_cast<OperatorInitializer*>(dispatchable)) {
      return recorder->record(initialization_command(*initializer, table.bindings()));
    }
    const auto& compiled = checked_cast<CompiledOperator>(device(), "RecordDispatch", dispatchable);
    if (compiled.binds_late()) {
      recorder->record_late(late_command(compiled.program(), table.descriptors(), device()));
    } else {
      recorder->record(execution_command(compiled.program(), table.bindings(), device()));
    }
  });
}

}  // namespace sheaf::dml_com

// SPDX-License-Identifier: MIT
//
// Binding tables and initializers: what a program binds, copied and kept.
#include "objects.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

constexpr UINT kMostBindings = 1u << 20;
constexpr size_t kMostDescriptors = 1u << 22;  // of one heap

// One for each input of each operator, and one for its persistent resource. The sum cannot wrap:
// there are at most 2^20 operators of at most 2^20 inputs.
size_t descriptors_of(const OperatorInitializer::Programs& programs) {
  size_t count = 1;
  for (const auto& program : programs) {
    count += program->inputs().size() + 1;
  }
  return count;
}

BoundList read_binding(const char* call, const DML_BINDING_DESC& desc) {
  BoundList list;
  list.type = desc.Type;
  const auto add = [&](const DML_BUFFER_BINDING& range) {
    list.ranges.push_back({com::Ref(range.Buffer), range.Offset, range.SizeInBytes});
  };
  if (desc.Type == DML_BINDING_TYPE_BUFFER && desc.Desc != nullptr) {
    add(*static_cast<const DML_BUFFER_BINDING*>(desc.Desc));
  } else if (desc.Type == DML_BINDING_TYPE_BUFFER_ARRAY && desc.Desc != nullptr) {
    const auto& array = *static_cast<const DML_BUFFER_ARRAY_BINDING*>(desc.Desc);
    if (array.BindingCount > kMostBindings ||
        (array.BindingCount > 0 && array.Bindings == nullptr)) {
      refuse_binding(call, cat("an array of ", array.BindingCount, " bindings is null or too long"),
                     "one DML_BUFFER_BINDING for each input");
    }
    for (UINT i = 0; i < array.BindingCount; ++i) {
      add(array.Bindings[i]);
    }
  } else if (desc.Type != DML_BINDING_TYPE_NONE) {
    refuse_binding(call,
                   cat("Type = ", static_cast<int>(desc.Type),
                       desc.Desc == nullptr ? " and Desc is null" : ""),
                   "DML_BINDING_TYPE_BUFFER (1) with its descriptor, or NONE (0)");
  }
  return list;
}

std::vector<BoundList> read_bindings(const char* call, UINT count,
                                     const DML_BINDING_DESC* bindings) {
  if (count > kMostBindings || (count > 0 && bindings == nullptr)) {
    refuse_binding(call, cat(count, " bindings, but the list is null or too long"),
                   "one DML_BINDING_DESC for each");
  }
  std::vector<BoundList> lists;
  for (UINT i = 0; i < count; ++i) {
    lists.push_back(read_binding(call, bindings[i]));
  }
  return lists;
}

}  // namespace

void refuse_binding(const char* call, const std::string& detail, const std::string& next) {
  dml::detail::refuse({.who = call,
                       .what = "bad binding",
                       .detail = detail,
                       .given = "IDMLBindingTable",
                       .next = next});
}

DML_BINDING_PROPERTIES CompiledOperator::GetBindingProperties() {
  // One descriptor for each binding: a heap of none cannot be created.
  const auto bindings = program_->inputs().size() + program_->outputs().size() + 2;
  return {static_cast<UINT>(bindings), program_->temporary_bytes(), program_->persistent_bytes()};
}

// read_compiled() has checked that the sum is a UINT.
DML_BINDING_PROPERTIES OperatorInitializer::GetBindingProperties() {
  return {static_cast<UINT>(descriptors_of(programs_)), 0, 0};
}

HRESULT OperatorInitializer::Reset(UINT count, IDMLCompiledOperator* const* operators) {
  return device()->guarded([&] {
    programs_ = read_compiled(device(), count, operators);
    return S_OK;
  });
}

OperatorInitializer::Programs read_compiled(DeviceState* device, UINT count,
                                            IDMLCompiledOperator* const* operators) {
  if (count > kMostBindings || (count > 0 && operators == nullptr)) {
    refuse_binding("CreateOperatorInitializer", "the list of operators is null or too long",
                   "a list of compiled operators");
  }
  OperatorInitializer::Programs programs;
  for (UINT i = 0; i < count; ++i) {
    programs.push_back(
        checked_cast<CompiledOperator>(device, "CreateOperatorInitializer", operators[i])
            .program());
  }
  if (descriptors_of(programs) > kMostDescriptors) {
    refuse_binding("CreateOperatorInitializer",
                   cat("the operators need ", descriptors_of(programs), " descriptors together"),
                   "several initializers");
  }
  return programs;
}

TablePlace read_table_desc(DeviceState* device, const DML_BINDING_TABLE_DESC* desc) {
  if (desc == nullptr) {
    return {};
  }
  bool late = false;
  if (dynamic_cast<OperatorInitializer*>(desc->Dispatchable) != nullptr) {
    checked_cast<OperatorInitializer>(device, "CreateBindingTable", desc->Dispatchable);
  } else {
    late = checked_cast<CompiledOperator>(device, "CreateBindingTable", desc->Dispatchable)
               .binds_late();
  }
  const UINT needed = desc->Dispatchable->GetBindingProperties().RequiredDescriptorCount;
  if (desc->SizeInDescriptors < needed || desc->CPUDescriptorHandle.ptr == 0) {
    refuse_binding(
        "CreateBindingTable",
        cat("SizeInDescriptors = ", desc->SizeInDescriptors, ", but ", needed, " are required",
            desc->CPUDescriptorHandle.ptr == 0 ? "; the handle is null" : ""),
        "RequiredDescriptorCount descriptors of a heap");
  }
  return {desc->Dispatchable, late ? device->descriptors_at(desc->CPUDescriptorHandle) : nullptr};
}

template <class Change>
void BindingTable::bind(Change change) {
  device()->guarded_void([&] {
    change(bindings_);
    if (place_.descriptors) {
      place_.descriptors->write(bindings_);
    }
  });
}

void BindingTable::BindInputs(UINT count, const DML_BINDING_DESC* list) {
  bind([&](Bindings& all) { all.inputs = read_bindings("BindInputs", count, list); });
}

void BindingTable::BindOutputs(UINT count, const DML_BINDING_DESC* list) {
  bind([&](Bindings& all) { all.outputs = read_bindings("BindOutputs", count, list); });
}

void BindingTable::BindTemporaryResource(const DML_BINDING_DESC* binding) {
  bind([&](Bindings& all) {
    all.temporary =
        binding == nullptr ? BoundList{} : read_binding("BindTemporaryResource", *binding);
  });
}

void BindingTable::BindPersistentResource(const DML_BINDING_DESC* binding) {
  bind([&](Bindings& all) {
    all.persistent =
        binding == nullptr ? BoundList{} : read_binding("BindPersistentResource", *binding);
  });
}

HRESULT BindingTable::Reset(const DML_BINDING_TABLE_DESC* desc) {
  return device()->guarded([&] {
    place_ = read_table_desc(device(), desc);
    bindings_ = {};
    return S_OK;
  });
}

}  // namespace sheaf::dml_com

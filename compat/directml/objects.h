// SPDX-License-Identifier: MIT
//
// The objects behind DirectML's interfaces, all but the device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "bridge.h"
#include "com_object.h"
#include "frontends/directml/refusal.h"
#include "program.h"
#include "sheaf_directml.h"

namespace sheaf::dml_com {

// One bound range: the buffer is kept alive.
struct Binding {
  com::Ref<ID3D12Resource> buffer;
  UINT64 offset = 0, bytes = 0;
};

// What was bound, copied: descriptors need not outlive the call.
struct BoundList {
  DML_BINDING_TYPE type = DML_BINDING_TYPE_NONE;
  std::vector<Binding> ranges;  // one, or those of an array
};

struct Bindings {
  std::vector<BoundList> inputs, outputs;
  BoundList temporary, persistent;
};

// What the descriptors of one place in a heap say. They stay when a table moves on, and when
// another one comes to this place it changes them.
class Descriptors {
 public:
  Bindings read() const {
    const std::lock_guard lock(mutex_);
    return bindings_;
  }
  void write(Bindings bindings) {
    const std::lock_guard lock(mutex_);
    std::swap(bindings_, bindings);
  }

 private:
  mutable std::mutex mutex_;
  Bindings bindings_;
};

// What the objects need of their device.
class DeviceState : public IDMLDevice1 {
 public:
  // Runs the body of a call: what it throws becomes an HRESULT, and its text is reported. Once the
  // device is removed, nothing is run.
  template <class Body>
  HRESULT guarded(Body body) noexcept {
    if (GetDeviceRemovedReason() != S_OK) {
      return refuse_removed();
    }
    const HRESULT result = dml::detail::guarded(body);
    if (FAILED(result)) {
      report_last_error();
    }
    return result;
  }

  // The same for methods that return nothing: a failure removes the device, as in DirectML.
  template <class Body>
  void guarded_void(Body body) noexcept {
    if (GetDeviceRemovedReason() != S_OK) {
      return;
    }
    const HRESULT result = guarded([&] {
      body();
      return S_OK;
    });
    if (FAILED(result)) {
      remove(result);
    }
  }

  virtual std::shared_ptr<Descriptors> descriptors_at(D3D12_CPU_DESCRIPTOR_HANDLE place) = 0;

 protected:
  ~DeviceState() = default;

 private:
  virtual void report_last_error() noexcept = 0;
  virtual HRESULT refuse_removed() noexcept = 0;     // DXGI_ERROR_DEVICE_REMOVED, with a text
  virtual void remove(HRESULT reason) noexcept = 0;  // keeps the first reason
};

// Children keep their device alive.
template <class Derived, class Base, class... Reachable>
class Child
    : public com::Named<Derived, IUnknown, Base, IDMLObject, IDMLDeviceChild, Reachable...> {
 public:
  explicit Child(DeviceState* device) : device_(device) {}
  HRESULT GetDevice(REFIID iid, void** device) override {
    return device_->QueryInterface(iid, device);
  }
  DeviceState* device() const { return device_.get(); }

 private:
  com::Ref<DeviceState> device_;
};

class Operator final : public Child<Operator, IDMLOperator, IDMLOperator> {
 public:
  Operator(DeviceState* device, std::shared_ptr<const Program> program)
      : Child(device), program_(std::move(program)) {}
  const std::shared_ptr<const Program>& program() const { return program_; }

 private:
  std::shared_ptr<const Program> program_;
};

class CompiledOperator final : public Child<CompiledOperator, IDMLCompiledOperator, IDMLPageable,
                                            IDMLDispatchable, IDMLCompiledOperator> {
 public:
  CompiledOperator(DeviceState* device, std::shared_ptr<const Program> program,
                   DML_EXECUTION_FLAGS flags)
      : Child(device), program_(std::move(program)), flags_(flags) {}
  DML_BINDING_PROPERTIES GetBindingProperties() override;
  const std::shared_ptr<const Program>& program() const { return program_; }
  // Bindings are those of the moment when a list is submitted.
  bool binds_late() const { return (flags_ & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE) != 0; }

 private:
  std::shared_ptr<const Program> program_;
  DML_EXECUTION_FLAGS flags_;
};

class OperatorInitializer final
    : public Child<OperatorInitializer, IDMLOperatorInitializer, IDMLPageable, IDMLDispatchable,
                   IDMLOperatorInitializer> {
 public:
  using Programs = std::vector<std::shared_ptr<const Program>>;
  OperatorInitializer(DeviceState* device, Programs programs)
      : Child(device), programs_(std::move(programs)) {}
  DML_BINDING_PROPERTIES GetBindingProperties() override;
  HRESULT Reset(UINT count, IDMLCompiledOperator* const* operators) override;
  const Programs& programs() const { return programs_; }

 private:
  Programs programs_;
};

// What a DML_BINDING_TABLE_DESC says.
struct TablePlace {
  com::Ref<IDMLDispatchable> dispatchable;
  std::shared_ptr<Descriptors> descriptors;  // null unless the dispatchable binds late
};

class BindingTable final : public Child<BindingTable, IDMLBindingTable, IDMLBindingTable> {
 public:
  BindingTable(DeviceState* device, TablePlace place) : Child(device), place_(std::move(place)) {}
  void BindInputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void BindOutputs(UINT count, const DML_BINDING_DESC* bindings) override;
  void BindTemporaryResource(const DML_BINDING_DESC* binding) override;
  void BindPersistentResource(const DML_BINDING_DESC* binding) override;
  HRESULT Reset(const DML_BINDING_TABLE_DESC* desc) override;

  IDMLDispatchable* dispatchable() const { return place_.dispatchable.get(); }
  const std::shared_ptr<Descriptors>& descriptors() const { return place_.descriptors; }
  const Bindings& bindings() const { return bindings_; }

 private:
  template <class Change>
  void bind(Change change);

  TablePlace place_;
  Bindings bindings_;
};

class CommandRecorder final
    : public Child<CommandRecorder, IDMLCommandRecorder, IDMLCommandRecorder> {
 public:
  using Child::Child;
  void RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                      IDMLBindingTable* bindings) override;
};

// The object behind an interface, if it is one of this device. Throws sheaf::Error.
template <class Object, class Interface>
Object& checked_cast(DeviceState* device, const char* call, Interface* object) {
  auto* ours = dynamic_cast<Object*>(object);
  if (ours == nullptr || ours->device() != device) {
    dml::detail::refuse({.who = call,
                         .what = object == nullptr ? "null pointer"
                                 : ours == nullptr ? "wrong kind of object"
                                                   : "object of another device",
                         .detail = object == nullptr ? "an object is null"
                                   : ours == nullptr ? "an object is of another kind"
                                                     : "an object was created by another device",
                         .given = "no other arguments were looked at",
                         .next = "an object that this device created"});
  }
  return *ours;
}

[[noreturn]] void refuse_binding(const char* call, const std::string& detail,
                                 const std::string& next);

// The programs of compiled operators. Throws sheaf::Error.
OperatorInitializer::Programs read_compiled(DeviceState* device, UINT count,
                                            IDMLCompiledOperator* const* operators);

// Checks a DML_BINDING_TABLE_DESC. Throws sheaf::Error.
TablePlace read_table_desc(DeviceState* device, const DML_BINDING_TABLE_DESC* desc);

}  // namespace sheaf::dml_com

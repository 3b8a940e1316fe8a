// SPDX-License-Identifier: MIT
//
// DirectML's gathers and scatters, on host memory or a device's. Descriptors, values and HRESULTs
// are DirectML's; only the device and the bindings are exchanged. docs/directml.md shows how, and
// lists what is enforced.
//
// DirectML's names (DML_*, IDML*, UINT, HRESULT, …) live in sheaf::dml and are visible without a
// prefix too, unless DirectML.h was included before or SHEAF_DIRECTML_NO_GLOBAL_NAMES is defined.
// No call throws. Objects may be used from many threads at once.
#pragma once

#include <cstddef>
#include <ranges>
#include <type_traits>
#include <utility>

#include "sheaf/directml_layout.h"
#include "sheaf/directml_types.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf::dml {

// Why the last call on this thread failed, in four lines; "" if it did not. Valid until the
// thread's next call.
const char* LastErrorText() noexcept;

// Memory of the program, in place of an ID3D12Resource. Does not own it. On a queue of a device it
// is memory of that device.
class HostBuffer {
 public:
  HostBuffer(void* data, UINT64 size_in_bytes) noexcept
      : data_(data), size_in_bytes_(size_in_bytes), writable_(true) {}
  HostBuffer(const void* data, UINT64 size_in_bytes) noexcept  // for inputs only
      : data_(const_cast<void*>(data)), size_in_bytes_(size_in_bytes), writable_(false) {}

  // All of a vector, array or span.
  template <sheaf::detail::Buffer C>
  explicit HostBuffer(C& buffer)
      : HostBuffer(std::ranges::data(buffer),
                   std::ranges::size(buffer) * sizeof(std::ranges::range_value_t<C>)) {
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<C>>);
  }

  void* data() const noexcept { return data_; }
  UINT64 size_in_bytes() const noexcept { return size_in_bytes_; }
  bool writable() const noexcept { return writable_; }

 private:
  void* data_;
  UINT64 size_in_bytes_;
  bool writable_;
};

// What a call works on: the arguments of IDMLBindingTable's BindInputs, BindOutputs and
// BindPersistentResource. Inputs are InputTensor, IndicesTensor and, of a scatter, UpdatesTensor;
// the output is OutputTensor. A scatter may have its input and its output in the same place.
struct Bindings {
  UINT InputCount = 0;
  const DML_BINDING_DESC* Inputs = nullptr;
  UINT OutputCount = 0;
  const DML_BINDING_DESC* Outputs = nullptr;
  const DML_BINDING_DESC* PersistentResource = nullptr;
};

namespace detail {
template <class Interface, class Derived>
class Counted;
}

inline namespace directml {

// Reference counted as in COM. Nobody but this library can make one.
class IDMLObject {
 public:
  virtual UINT AddRef() noexcept = 0;
  virtual UINT Release() noexcept = 0;
  IDMLObject(const IDMLObject&) = delete;
  IDMLObject& operator=(const IDMLObject&) = delete;

 protected:
  IDMLObject() = default;
  ~IDMLObject() = default;
};

class IDMLOperator : public IDMLObject {
  template <class Interface, class Derived>
  friend class sheaf::dml::detail::Counted;
  IDMLOperator() = default;
};

// Immutable: one may be dispatched by many threads at once.
class IDMLCompiledOperator : public IDMLObject {
 public:
  // PersistentResourceSize is not 0 where a tensor is OWNED_BY_DML; the rest is 0.
  virtual DML_BINDING_PROPERTIES GetBindingProperties() const noexcept = 0;
  // What a dispatch will do; see Plan::str().
  virtual const Plan& GetPlan() const noexcept = 0;

 private:
  template <class Interface, class Derived>
  friend class sheaf::dml::detail::Counted;
  IDMLCompiledOperator() = default;
};

// Pointers that receive an object may be null: then the arguments are checked and the answer to
// valid ones is S_FALSE. After a failure they hold null.
class IDMLDevice : public IDMLObject {
 public:
  virtual HRESULT CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query,
                                      UINT support_size, void* support) noexcept = 0;

  // Does all the work: checks the descriptor, which need not outlive the call, and makes the plan.
  virtual HRESULT CreateOperator(const DML_OPERATOR_DESC* desc, IDMLOperator** op) noexcept = 0;

  virtual HRESULT CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags,
                                  IDMLCompiledOperator** compiled) noexcept = 0;

  // Copies the inputs that are OWNED_BY_DML into the persistent resource: the dispatch of an
  // IDMLOperatorInitializer. Needed before Dispatch only where there are such inputs.
  virtual HRESULT InitializeOperator(IDMLCompiledOperator* op,
                                     const Bindings& bindings) noexcept = 0;

  // Gathers or scatters, and returns when done. After a failure the output is untouched.
  virtual HRESULT Dispatch(IDMLCompiledOperator* op, const Bindings& bindings) noexcept = 0;

  // The same on memory of the queue's device; a HostBuffer then names such memory. Initializing
  // returns when done. Dispatch starts the work in the order of queue.stream and returns:
  // wait(queue) or the stream itself says when it is done. queue.workspace needs
  // workspace_bytes(op->GetPlan(), queue).
  virtual HRESULT InitializeOperator(IDMLCompiledOperator* op, const Bindings& bindings,
                                     const Queue& queue) noexcept = 0;
  virtual HRESULT Dispatch(IDMLCompiledOperator* op, const Bindings& bindings,
                           const Queue& queue) noexcept = 0;

 private:
  template <class Interface, class Derived>
  friend class sheaf::dml::detail::Counted;
  IDMLDevice() = default;
};

// A device of the highest feature level, 6_4.
HRESULT DMLCreateDevice(DML_CREATE_DEVICE_FLAGS flags, IDMLDevice** device) noexcept;

// The same device; DXGI_ERROR_UNSUPPORTED if its level is below `minimum`.
HRESULT DMLCreateDevice1(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL minimum,
                         IDMLDevice** device) noexcept;

}  // namespace directml

// What DirectML has no word for.
struct DeviceOptions {
  // The device has exactly this level and refuses what the level does not have, so that a program
  // can be tried against an older DirectML.
  DML_FEATURE_LEVEL feature_level = DML_FEATURE_LEVEL_6_4;
  // GATHER_ELEMENTS and SCATTER_ELEMENTS take indices that are smaller than the input off the axis,
  // as ONNX does. DirectML's pages ask for equal sizes.
  bool smaller_indices = false;
};
HRESULT CreateDevice(const DeviceOptions& options, IDMLDevice** device) noexcept;

namespace detail {
UINT64 buffer_tensor_size(DML_TENSOR_DATA_TYPE type, UINT dimension_count, const UINT* sizes,
                          const UINT* strides) noexcept;
}

inline namespace directml {

// The least TotalTensorSizeInBytes of such a tensor: up to its last element, rounded up to 4. 0 if
// there is none: an unknown type, a size of 0, more than 8 dimensions, or 2^63 bytes and more.
// A template, because many programs bring their own function of this name: theirs is preferred.
template <class = void>
UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE type, UINT dimension_count, const UINT* sizes,
                               const UINT* strides) noexcept {
  return detail::buffer_tensor_size(type, dimension_count, sizes, strides);
}

}  // namespace directml

// The smart pointer that DirectML code has from WRL; only what that code uses of it.
template <class T>
class ComPtr {
 public:
  ComPtr() = default;
  ComPtr(std::nullptr_t) {}
  ComPtr(T* object) : object_(object) { add_ref(); }
  ComPtr(const ComPtr& other) : object_(other.object_) { add_ref(); }
  template <class Derived>
  requires std::is_convertible_v<Derived*, T*> ComPtr(const ComPtr<Derived>& other)
      : object_(other.Get()) {
    add_ref();
  }
  ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ComPtr() { Reset(); }

  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T** GetAddressOf() { return &object_; }
  T** ReleaseAndGetAddressOf() {
    Reset();
    return &object_;
  }
  T** operator&() { return ReleaseAndGetAddressOf(); }
  void Reset() {
    if (T* object = std::exchange(object_, nullptr)) {
      object->Release();
    }
  }
  void Attach(T* object) {
    Reset();
    object_ = object;
  }
  T* Detach() { return std::exchange(object_, nullptr); }

  // Gives `to` a reference of its own.
  HRESULT CopyTo(T** to) const {
    add_ref();
    *to = object_;
    return S_OK;
  }

  friend bool operator==(const ComPtr& a, std::nullptr_t) { return a.object_ == nullptr; }
  friend bool operator==(const ComPtr& a, const ComPtr& b) { return a.object_ == b.object_; }

 private:
  void add_ref() const {
    if (object_ != nullptr) {
      object_->AddRef();
    }
  }

  T* object_ = nullptr;
};

}  // namespace sheaf::dml

#if !defined(DIRECTML_H) && !defined(SHEAF_DIRECTML_NO_GLOBAL_NAMES)
using namespace sheaf::dml::directml;
// Code that asks which DirectML.h it has finds the newest one.
#ifndef DML_TARGET_VERSION
#define DML_TARGET_VERSION 0x6400
#endif
#endif

#pragma GCC visibility pop

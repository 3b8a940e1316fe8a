// SPDX-License-Identifier: MIT
//
// Microsoft::WRL::ComPtr, the smart pointer of COM programs: what they use of it.
#pragma once

#include "../sheaf_com.h"

#if !SHEAF_OWN_D3D12
#include <wsl/wrladapter.h>
#else

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace Microsoft {
namespace WRL {

template <class T>
class ComPtr;

namespace Details {
// What &pointer is: an address that receives an object, after the old one was let go.
template <class T>
class ComPtrRef {
 public:
  using InterfaceType = T;
  explicit ComPtrRef(ComPtr<T>& pointer) : pointer_(pointer) {}
  operator void**() const { return reinterpret_cast<void**>(pointer_.ReleaseAndGetAddressOf()); }
  operator T**() const { return pointer_.ReleaseAndGetAddressOf(); }
  operator ComPtr<T>*() const {
    pointer_.Reset();
    return std::addressof(pointer_);
  }
  T* operator*() const { return pointer_.Get(); }  // for __uuidof(**pp)

 private:
  ComPtr<T>& pointer_;
};
}  // namespace Details

template <class T>
class ComPtr {
 public:
  using InterfaceType = T;

  ComPtr() = default;
  ComPtr(std::nullptr_t) {}
  ComPtr(T* object) : object_(object) { add_ref(); }
  ComPtr(const ComPtr& other) : object_(other.object_) { add_ref(); }
  ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  ComPtr(const ComPtr<U>& other) : object_(other.Get()) {
    add_ref();
  }
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ComPtr() { Reset(); }

  T* Get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T** GetAddressOf() { return &object_; }
  T* const* GetAddressOf() const { return &object_; }
  T** ReleaseAndGetAddressOf() {
    Reset();
    return &object_;
  }
  Details::ComPtrRef<T> operator&() { return Details::ComPtrRef<T>(*this); }

  ULONG Reset() {
    T* object = std::exchange(object_, nullptr);
    return object == nullptr ? 0 : object->Release();
  }
  void Attach(T* object) {
    Reset();
    object_ = object;
  }
  T* Detach() { return std::exchange(object_, nullptr); }
  void Swap(ComPtr& other) { std::swap(object_, other.object_); }
  void Swap(ComPtr&& other) { std::swap(object_, other.object_); }

  HRESULT CopyTo(T** to) const {
    add_ref();
    *to = object_;
    return S_OK;
  }
  HRESULT CopyTo(REFIID iid, void** to) const { return object_->QueryInterface(iid, to); }
  template <class U>
  HRESULT CopyTo(U** to) const {
    return object_->QueryInterface(__uuidof(U), reinterpret_cast<void**>(to));
  }
  template <class U>
  HRESULT As(ComPtr<U>* to) const {
    return object_->QueryInterface(__uuidof(U),
                                   reinterpret_cast<void**>(to->ReleaseAndGetAddressOf()));
  }
  template <class U>
  HRESULT As(Details::ComPtrRef<U> to) const {
    return object_->QueryInterface(__uuidof(U), to);
  }

  friend bool operator==(const ComPtr& a, std::nullptr_t) { return a.object_ == nullptr; }
  friend bool operator!=(const ComPtr& a, std::nullptr_t) { return a.object_ != nullptr; }
  friend bool operator==(std::nullptr_t, const ComPtr& a) { return a.object_ == nullptr; }
  friend bool operator!=(std::nullptr_t, const ComPtr& a) { return a.object_ != nullptr; }
  friend bool operator==(const ComPtr& a, const ComPtr& b) { return a.object_ == b.object_; }
  friend bool operator!=(const ComPtr& a, const ComPtr& b) { return a.object_ != b.object_; }

 private:
  void add_ref() const {
    if (object_ != nullptr) {
      object_->AddRef();
    }
  }

  T* object_ = nullptr;
};

}  // namespace WRL
}  // namespace Microsoft

template <class T>
void** IID_PPV_ARGS_Helper(Microsoft::WRL::Details::ComPtrRef<T> pointer) {
  return pointer;
}

#endif  // SHEAF_OWN_D3D12

// SPDX-License-Identifier: MIT
//
// What every COM object here shares: reference counting, QueryInterface, private data and names,
// and the way from an exception to an HRESULT.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <cwchar>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "d3d12.h"
#include "sheaf/error.h"

// What the shared libraries show; the rest is hidden.
#define SHEAF_EXPORT __attribute__((visibility("default")))

namespace sheaf::com {

// Sends a text to the message callback; without one, to stderr if `loud`.
SHEAF_EXPORT void report(const std::string& text, bool loud);

// Receives every report beside the callback: the message queue of a device.
class MessageSink {
 public:
  virtual void add(const std::string& text) = 0;
  // A method that is not there: one line for each, however often it is called.
  virtual void add_missing(const std::string& method) = 0;

 protected:
  ~MessageSink() = default;
};
void add_sink(std::shared_ptr<MessageSink> sink);
void remove_sink(const MessageSink& sink) noexcept;

// The text of a refusal, in the four lines of the library's own.
struct Words {
  std::string_view who, what, detail, given, next;
};
std::string words(const Words& words);

// Reports that `method` is not there: once to the callback, and once to every message queue.
// E_NOTIMPL; *out becomes null.
SHEAF_EXPORT HRESULT missing(const char* method, void** out = nullptr);

// How many objects are alive, in this process and of both libraries. For leak checks.
extern "C" SHEAF_EXPORT long SheafLiveObjects();
SHEAF_EXPORT void count_object(long change);

struct GuidOrder {
  bool operator()(const GUID& a, const GUID& b) const {
    return std::memcmp(&a, &b, sizeof(GUID)) < 0;
  }
};

// A counted reference to `Interface`.
template <class Interface>
class Ref {
 public:
  Ref() = default;
  Ref(Interface* object) : object_(object) {
    if (object_ != nullptr) {
      object_->AddRef();
    }
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {
      object_->Release();
    }
  }
  Interface* get() const { return object_; }
  Interface* operator->() const { return object_; }
  Interface& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Interface* object_ = nullptr;
};

// What programs attach to an object: bytes, or another object that is kept alive.
class SHEAF_EXPORT PrivateData {
 public:
  HRESULT get(REFGUID guid, UINT* size, void* data) const;
  HRESULT set(REFGUID guid, UINT size, const void* data);
  HRESULT set_interface(REFGUID guid, IUnknown* object);

 private:
  using Value = std::variant<std::vector<std::byte>, Ref<IUnknown>>;
  mutable std::mutex mutex_;
  std::map<GUID, Value, GuidOrder> values_;
};

// Runs the body of a call; what it throws becomes E_OUTOFMEMORY or E_FAIL.
template <class Body>
HRESULT guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return E_OUTOFMEMORY;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kOutOfMemory ? E_OUTOFMEMORY : E_FAIL;
  } catch (...) {
    return E_FAIL;
  }
}

// Implements IUnknown for `Derived`, an object with one virtual table: `Base` is its interface, or
// a class that implements parts of it, and `Reachable` are the interfaces it can be asked for.
template <class Derived, class Base, class... Reachable>
class Counted : public Base {
 public:
  using Base::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override {
    if (object == nullptr) {
      return E_POINTER;
    }
    *object = nullptr;
    if (iid == __uuidof(IUnknown)) {
      *object = static_cast<IUnknown*>(this);
    }
    (offer<Reachable>(iid, object), ...);
    if (*object == nullptr) {
      return E_NOINTERFACE;
    }
    AddRef();
    return S_OK;
  }
  ULONG AddRef() override { return count_.fetch_add(1, std::memory_order_relaxed) + 1; }
  ULONG Release() override {
    const ULONG left = count_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) {
      delete static_cast<Derived*>(this);
    }
    return left;
  }

 protected:
  template <class... Arguments>
  explicit Counted(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...) {
    count_object(1);
  }
  ~Counted() { count_object(-1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  template <class Interface>
  void offer(REFIID iid, void** object) {
    if (iid == __uuidof(Interface)) {
      *object = static_cast<Interface*>(this);
    }
  }

  std::atomic<ULONG> count_{1};
};

// The same for objects that carry private data. `Attached` is how the interface spells the object
// that SetPrivateDataInterface takes.
template <class Derived, class Attached, class Base, class... Reachable>
class Named : public Counted<Derived, Base, Reachable...> {
 public:
  template <class... Arguments>
  explicit Named(Arguments&&... arguments)
      : Counted<Derived, Base, Reachable...>(std::forward<Arguments>(arguments)...) {}

  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override {
    return guarded([&] { return data_.get(guid, size, data); });
  }
  HRESULT SetPrivateData(REFGUID guid, UINT size, const void* data) override {
    return guarded([&] { return data_.set(guid, size, data); });
  }
  HRESULT SetPrivateDataInterface(REFGUID guid, Attached* object) override {
    return guarded([&] { return data_.set_interface(guid, const_cast<IUnknown*>(object)); });
  }
  // A name is private data too, under a GUID that tools know; without the zero at its end.
  HRESULT SetName(LPCWSTR name) override {
    const size_t bytes = name == nullptr ? 0 : std::wcslen(name) * sizeof(WCHAR);
    return SetPrivateData(WKPDID_D3DDebugObjectNameW, static_cast<UINT>(bytes), name);
  }

 private:
  PrivateData data_;
};

// Hands a new object to the caller as `iid` asks. A null pointer to store it in: S_FALSE, as the
// arguments were fine.
template <class Object, class... Arguments>
HRESULT create_into(REFIID iid, void** out, Arguments&&... arguments) {
  if (out != nullptr) {
    *out = nullptr;
  }
  auto* object = new Object(std::forward<Arguments>(arguments)...);
  const HRESULT result = out == nullptr ? S_FALSE : object->QueryInterface(iid, out);
  object->Release();
  return result;
}

}  // namespace sheaf::com

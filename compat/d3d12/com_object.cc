// SPDX-License-Identifier: MIT
#include "com_object.h"

#include <cstdio>
#include <set>

#include "d3d12.h"
#include "sheaf/error.h"

namespace sheaf::com {
namespace {

struct Messages {
  std::mutex mutex;
  SheafMessageCallback callback = nullptr;
  void* context = nullptr;
  std::vector<std::shared_ptr<MessageSink>> sinks;
  std::set<std::string> missing;  // reported already
};

// Never destroyed: objects are released by destructors of programs' globals too.
Messages& messages() {
  static Messages& all = *new Messages;
  return all;
}

std::atomic<long> live_objects{0};

// To the callback, or to stderr if there is none.
void tell(const std::string& text, bool loud) {
  Messages& all = messages();
  SheafMessageCallback callback = nullptr;
  void* context = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    callback = all.callback;
    context = all.context;
  }
  if (callback != nullptr) {  // outside the lock: it may call back into the library
    callback(text.c_str(), context);
  } else if (loud) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

std::vector<std::shared_ptr<MessageSink>> sinks_now() {
  const std::lock_guard lock(messages().mutex);
  return messages().sinks;
}

}  // namespace

void report(const std::string& text, bool loud) {
  for (const auto& sink : sinks_now()) {
    sink->add(text);
  }
  tell(text, loud);
}

void add_sink(std::shared_ptr<MessageSink> sink) {
  const std::lock_guard lock(messages().mutex);
  messages().sinks.push_back(std::move(sink));
}

void remove_sink(const MessageSink& sink) noexcept {
  const std::lock_guard lock(messages().mutex);
  std::erase_if(messages().sinks, [&](const auto& kept) { return kept.get() == &sink; });
}

std::string words(const Words& words) {
  return Error(Refusal{.who = std::string(words.who),
                       .what = std::string(words.what),
                       .detail = std::string(words.detail),
                       .given = std::string(words.given),
                       .next = std::string(words.next)})
      .what();
}

HRESULT missing(const char* method, void** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
  return guarded([&] {
    bool first = false;
    {
      const std::lock_guard lock(messages().mutex);
      first = messages().missing.insert(method).second;
    }
    for (const auto& sink : sinks_now()) {
      sink->add_missing(method);
    }
    if (first) {
      tell(words({.who = method,
                  .what = "not implemented",
                  .detail = "this Direct3D 12 has buffers, copies and DirectML's dispatches",
                  .given = "no arguments were looked at",
                  .next = "docs/directml.md lists what is there"}),
           true);
    }
    return E_NOTIMPL;
  });
}

long SheafLiveObjects() { return live_objects.load(); }
void count_object(long change) { live_objects.fetch_add(change, std::memory_order_relaxed); }

HRESULT PrivateData::get(REFGUID guid, UINT* size, void* data) const {
  if (size == nullptr) {
    return E_INVALIDARG;
  }
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(guid);
  if (found == values_.end()) {
    *size = 0;
    return DXGI_ERROR_NOT_FOUND;
  }
  const auto* bytes = std::get_if<std::vector<std::byte>>(&found->second);
  const UINT needed = bytes == nullptr ? sizeof(IUnknown*) : static_cast<UINT>(bytes->size());
  const UINT room = std::exchange(*size, needed);
  if (data == nullptr) {
    return S_OK;
  }
  if (room < needed) {
    return DXGI_ERROR_MORE_DATA;
  }
  if (bytes != nullptr) {
    std::memcpy(data, bytes->data(), needed);
  } else {
    IUnknown* object = std::get<Ref<IUnknown>>(found->second).get();
    object->AddRef();
    std::memcpy(data, &object, sizeof object);
  }
  return S_OK;
}

HRESULT PrivateData::set(REFGUID guid, UINT size, const void* data) {
  if (data == nullptr && size != 0) {
    return E_INVALIDARG;
  }
  const std::lock_guard lock(mutex_);
  if (data == nullptr) {
    values_.erase(guid);
    return S_OK;
  }
  const auto* first = static_cast<const std::byte*>(data);
  values_.insert_or_assign(guid, Value(std::vector<std::byte>(first, first + size)));
  return S_OK;
}

HRESULT PrivateData::set_interface(REFGUID guid, IUnknown* object) {
  const std::lock_guard lock(mutex_);
  if (object == nullptr) {
    values_.erase(guid);
  } else {
    values_.insert_or_assign(guid, Value(Ref<IUnknown>(object)));
  }
  return S_OK;
}

}  // namespace sheaf::com

SHEAF_EXPORT void SheafSetMessageCallback(SheafMessageCallback callback, void* context) {
  sheaf::com::Messages& all = sheaf::com::messages();
  const std::lock_guard lock(all.mutex);
  all.callback = callback;
  all.context = context;
}

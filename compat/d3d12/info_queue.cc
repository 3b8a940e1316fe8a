// SPDX-License-Identifier: MIT
#include "info_queue.h"

#include <cstring>
#include <utility>
#include <vector>

namespace sheaf::d3d12 {

void MessageStore::add_missing(const std::string& method) {
  {
    const std::lock_guard lock(mutex_);
    if (!missing_.insert(method).second) {
      return;
    }
  }
  add(method + ": not implemented; docs/directml.md lists what is there");
}

void MessageStore::add(const Message& message) {
  std::vector<Callback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [cookie, callback] : callbacks_) {
      callbacks.push_back(callback);
    }
    ++received_;
    messages_.push_back(message);
    drop_oldest();
  }
  for (const Callback& callback : callbacks) {  // outside the lock: they may call back
    callback.function(message.category, message.severity, message.id, message.text.c_str(),
                      callback.context);
  }
}

void MessageStore::drop_oldest() {
  while (messages_.size() > limit_) {
    messages_.pop_front();
    ++discarded_;
  }
}

void MessageStore::clear() {
  const std::lock_guard lock(mutex_);
  messages_.clear();
}

void MessageStore::set_limit(UINT64 limit) {
  const std::lock_guard lock(mutex_);
  limit_ = limit;
  drop_oldest();
}

UINT64 MessageStore::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

UINT64 MessageStore::stored() const {
  const std::lock_guard lock(mutex_);
  return messages_.size();
}

UINT64 MessageStore::discarded() const {
  const std::lock_guard lock(mutex_);
  return discarded_;
}

UINT64 MessageStore::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

// The text follows the struct in the caller's memory.
HRESULT MessageStore::read(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) const {
  const std::lock_guard lock(mutex_);
  if (bytes == nullptr || index >= messages_.size()) {
    return E_INVALIDARG;
  }
  const Message& stored = messages_[static_cast<size_t>(index)];
  const SIZE_T text_bytes = stored.text.size() + 1;
  const SIZE_T room = std::exchange(*bytes, sizeof *message + text_bytes);
  if (message == nullptr) {
    return S_FALSE;
  }
  if (room < *bytes) {
    return E_INVALIDARG;
  }
  char* text = reinterpret_cast<char*>(message + 1);
  std::memcpy(text, stored.text.c_str(), text_bytes);
  *message = {stored.category, stored.severity, stored.id, text, text_bytes};
  return S_OK;
}

DWORD MessageStore::add_callback(D3D12MessageFunc function, void* context) {
  const std::lock_guard lock(mutex_);
  callbacks_[++last_cookie_] = {function, context};
  return last_cookie_;
}

bool MessageStore::remove_callback(DWORD cookie) {
  const std::lock_guard lock(mutex_);
  return callbacks_.erase(cookie) == 1;
}

HRESULT InfoQueue::SetMessageCountLimit(UINT64 limit) {
  return com::guarded([&] {
    store_->set_limit(limit);
    return S_OK;
  });
}

HRESULT InfoQueue::GetMessage(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) {
  return store_->read(index, message, bytes);
}

HRESULT InfoQueue::AddMessage(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                              D3D12_MESSAGE_ID id, LPCSTR description) {
  if (description == nullptr) {
    return E_INVALIDARG;
  }
  return com::guarded([&] {
    store_->add({category, severity, id, description});
    return S_OK;
  });
}

HRESULT InfoQueue::AddApplicationMessage(D3D12_MESSAGE_SEVERITY severity, LPCSTR description) {
  return AddMessage(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED, severity, D3D12_MESSAGE_ID_UNKNOWN,
                    description);
}

HRESULT InfoQueue::set_break(const Break& on, BOOL enable) {
  return com::guarded([&] {
    const std::lock_guard lock(mutex_);
    if (enable != FALSE) {
      breaks_.insert(on);
    } else {
      breaks_.erase(on);
    }
    return S_OK;
  });
}

BOOL InfoQueue::breaks(const Break& on) {
  const std::lock_guard lock(mutex_);
  return breaks_.count(on) == 1 ? TRUE : FALSE;
}

HRESULT InfoQueue::SetBreakOnCategory(D3D12_MESSAGE_CATEGORY category, BOOL enable) {
  return set_break({0, category}, enable);
}
HRESULT InfoQueue::SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity, BOOL enable) {
  return set_break({1, severity}, enable);
}
HRESULT InfoQueue::SetBreakOnID(D3D12_MESSAGE_ID id, BOOL enable) {
  return set_break({2, id}, enable);
}
BOOL InfoQueue::GetBreakOnCategory(D3D12_MESSAGE_CATEGORY category) {
  return breaks({0, category});
}
BOOL InfoQueue::GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity) {
  return breaks({1, severity});
}
BOOL InfoQueue::GetBreakOnID(D3D12_MESSAGE_ID id) { return breaks({2, id}); }

HRESULT InfoQueue::RegisterMessageCallback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS,
                                           void* context, DWORD* cookie) {
  if (function == nullptr || cookie == nullptr) {
    return E_INVALIDARG;
  }
  return com::guarded([&] {
    *cookie = store_->add_callback(function, context);
    return S_OK;
  });
}

HRESULT InfoQueue::UnregisterMessageCallback(DWORD cookie) {
  return store_->remove_callback(cookie) ? S_OK : E_INVALIDARG;
}

}  // namespace sheaf::d3d12

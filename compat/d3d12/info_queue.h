// SPDX-License-Identifier: MIT
//
// The messages of the debug layer: a store that every report goes to, and ID3D12InfoQueue over it,
// which is a second face of the device.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "com_object.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

struct Message {
  D3D12_MESSAGE_CATEGORY category;
  D3D12_MESSAGE_SEVERITY severity;
  D3D12_MESSAGE_ID id;
  std::string text;
};

class MessageStore final : public com::MessageSink {
 public:
  void add(const std::string& text) override {
    add({D3D12_MESSAGE_CATEGORY_EXECUTION, D3D12_MESSAGE_SEVERITY_ERROR, D3D12_MESSAGE_ID_UNKNOWN,
         text});
  }
  void add_missing(const std::string& method) override;
  void add(const Message& message);
  void clear();
  void set_limit(UINT64 limit);
  UINT64 limit() const;
  UINT64 stored() const;
  UINT64 discarded() const;
  UINT64 received() const;
  HRESULT read(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) const;
  DWORD add_callback(D3D12MessageFunc function, void* context);
  bool remove_callback(DWORD cookie);

 private:
  struct Callback {
    D3D12MessageFunc function;
    void* context;
  };
  void drop_oldest();

  mutable std::mutex mutex_;
  std::deque<Message> messages_;
  std::set<std::string> missing_;  // methods that have their line
  UINT64 limit_ = 1024;
  UINT64 received_ = 0, discarded_ = 0;
  DWORD last_cookie_ = 0;
  std::map<DWORD, Callback> callbacks_;
};

// The methods of filters are not there.
class InfoQueueStubs : public ID3D12InfoQueue1 {
 public:
  HRESULT AddStorageFilterEntries(D3D12_INFO_QUEUE_FILTER*) override {
    return com::missing("ID3D12InfoQueue::AddStorageFilterEntries");
  }
  HRESULT GetStorageFilter(D3D12_INFO_QUEUE_FILTER*, SIZE_T*) override {
    return com::missing("ID3D12InfoQueue::GetStorageFilter");
  }
  HRESULT PushEmptyStorageFilter() override {
    return com::missing("ID3D12InfoQueue::PushEmptyStorageFilter");
  }
  HRESULT PushCopyOfStorageFilter() override {
    return com::missing("ID3D12InfoQueue::PushCopyOfStorageFilter");
  }
  HRESULT PushStorageFilter(D3D12_INFO_QUEUE_FILTER*) override {
    return com::missing("ID3D12InfoQueue::PushStorageFilter");
  }
  HRESULT AddRetrievalFilterEntries(D3D12_INFO_QUEUE_FILTER*) override {
    return com::missing("ID3D12InfoQueue::AddRetrievalFilterEntries");
  }
  HRESULT GetRetrievalFilter(D3D12_INFO_QUEUE_FILTER*, SIZE_T*) override {
    return com::missing("ID3D12InfoQueue::GetRetrievalFilter");
  }
  HRESULT PushEmptyRetrievalFilter() override {
    return com::missing("ID3D12InfoQueue::PushEmptyRetrievalFilter");
  }
  HRESULT PushCopyOfRetrievalFilter() override {
    return com::missing("ID3D12InfoQueue::PushCopyOfRetrievalFilter");
  }
  HRESULT PushRetrievalFilter(D3D12_INFO_QUEUE_FILTER*) override {
    return com::missing("ID3D12InfoQueue::PushRetrievalFilter");
  }
  // Of the stacks there is only the empty filter, which lets everything pass.
  void ClearStorageFilter() override {}
  void PopStorageFilter() override {}
  UINT GetStorageFilterStackSize() override { return 0; }
  void ClearRetrievalFilter() override {}
  void PopRetrievalFilter() override {}
  UINT GetRetrievalFilterStackSize() override { return 0; }
};

// Lives in its device: one count, one identity.
class InfoQueue final : public InfoQueueStubs {
 public:
  explicit InfoQueue(IUnknown* device) : device_(device) { com::add_sink(store_); }
  ~InfoQueue() { com::remove_sink(*store_); }

  using IUnknown::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override {
    return device_->QueryInterface(iid, object);
  }
  ULONG AddRef() override { return device_->AddRef(); }
  ULONG Release() override { return device_->Release(); }

  HRESULT SetMessageCountLimit(UINT64 limit) override;
  void ClearStoredMessages() override { store_->clear(); }
  HRESULT GetMessage(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) override;
  UINT64 GetNumMessagesAllowedByStorageFilter() override { return store_->received(); }
  UINT64 GetNumMessagesDeniedByStorageFilter() override { return 0; }
  UINT64 GetNumStoredMessages() override { return store_->stored(); }
  UINT64 GetNumStoredMessagesAllowedByRetrievalFilter() override { return store_->stored(); }
  UINT64 GetNumMessagesDiscardedByMessageCountLimit() override { return store_->discarded(); }
  UINT64 GetMessageCountLimit() override { return store_->limit(); }
  HRESULT AddMessage(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                     D3D12_MESSAGE_ID id, LPCSTR description) override;
  HRESULT AddApplicationMessage(D3D12_MESSAGE_SEVERITY severity, LPCSTR description) override;
  // Remembered only: there is no debugger to break into.
  HRESULT SetBreakOnCategory(D3D12_MESSAGE_CATEGORY category, BOOL enable) override;
  HRESULT SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity, BOOL enable) override;
  HRESULT SetBreakOnID(D3D12_MESSAGE_ID id, BOOL enable) override;
  BOOL GetBreakOnCategory(D3D12_MESSAGE_CATEGORY category) override;
  BOOL GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity) override;
  BOOL GetBreakOnID(D3D12_MESSAGE_ID id) override;
  void SetMuteDebugOutput(BOOL mute) override { muted_ = mute; }
  BOOL GetMuteDebugOutput() override { return muted_; }
  HRESULT RegisterMessageCallback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags,
                                  void* context, DWORD* cookie) override;
  HRESULT UnregisterMessageCallback(DWORD cookie) override;

 private:
  using Break = std::pair<int, int>;  // which kind of number, and the number
  HRESULT set_break(const Break& on, BOOL enable);
  BOOL breaks(const Break& on);

  IUnknown* device_;
  std::shared_ptr<MessageStore> store_ = std::make_shared<MessageStore>();
  std::atomic<BOOL> muted_{FALSE};
  std::mutex mutex_;
  std::set<Break> breaks_;
};

}  // namespace sheaf::d3d12

// SPDX-License-Identifier: MIT
//
// The debug layer. Checks are always on: what it enables is the queue of their messages. Include
// d3d12.h.
#pragma once

#include "sheaf_d3d12_newer_interfaces.h"

struct D3D12_INFO_QUEUE_FILTER;

enum D3D12_GPU_BASED_VALIDATION_FLAGS {
  D3D12_GPU_BASED_VALIDATION_FLAGS_NONE = 0,
  D3D12_GPU_BASED_VALIDATION_FLAGS_DISABLE_STATE_TRACKING = 1,
};
DEFINE_ENUM_FLAG_OPERATORS(D3D12_GPU_BASED_VALIDATION_FLAGS)

enum D3D12_MESSAGE_CATEGORY {
  D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED = 0,
  D3D12_MESSAGE_CATEGORY_MISCELLANEOUS = 1,
  D3D12_MESSAGE_CATEGORY_INITIALIZATION = 2,
  D3D12_MESSAGE_CATEGORY_CLEANUP = 3,
  D3D12_MESSAGE_CATEGORY_COMPILATION = 4,
  D3D12_MESSAGE_CATEGORY_STATE_CREATION = 5,
  D3D12_MESSAGE_CATEGORY_STATE_SETTING = 6,
  D3D12_MESSAGE_CATEGORY_STATE_GETTING = 7,
  D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION = 8,
  D3D12_MESSAGE_CATEGORY_EXECUTION = 9,
  D3D12_MESSAGE_CATEGORY_SHADER = 10,
};

enum D3D12_MESSAGE_SEVERITY {
  D3D12_MESSAGE_SEVERITY_CORRUPTION = 0,
  D3D12_MESSAGE_SEVERITY_ERROR = 1,
  D3D12_MESSAGE_SEVERITY_WARNING = 2,
  D3D12_MESSAGE_SEVERITY_INFO = 3,
  D3D12_MESSAGE_SEVERITY_MESSAGE = 4,
};

enum D3D12_MESSAGE_ID {
  D3D12_MESSAGE_ID_UNKNOWN = 0,
  D3D12_MESSAGE_ID_META_COMMAND_UNSUPPORTED_PARAMS = 1172,
};

struct D3D12_MESSAGE {
  D3D12_MESSAGE_CATEGORY Category;
  D3D12_MESSAGE_SEVERITY Severity;
  D3D12_MESSAGE_ID ID;
  const char* pDescription;
  SIZE_T DescriptionByteLength;
};

enum D3D12_MESSAGE_CALLBACK_FLAGS {
  D3D12_MESSAGE_CALLBACK_FLAG_NONE = 0,
  D3D12_MESSAGE_CALLBACK_IGNORE_FILTERS = 1,
};
DEFINE_ENUM_FLAG_OPERATORS(D3D12_MESSAGE_CALLBACK_FLAGS)

using D3D12MessageFunc = void (*)(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                                  D3D12_MESSAGE_ID id, LPCSTR description, void* context);

struct ID3D12Debug : IUnknown {
  virtual void EnableDebugLayer() = 0;
};
SHEAF_DECLARE_IID(ID3D12Debug, 0x344488b7, 0x6846, 0x474b, 0xb9, 0x89, 0xf0, 0x27, 0x44, 0x82, 0x45,
                  0xe0)

struct ID3D12Debug1 : IUnknown {
  virtual void EnableDebugLayer() = 0;
  virtual void SetEnableGPUBasedValidation(BOOL enable) = 0;
  virtual void SetEnableSynchronizedCommandQueueValidation(BOOL enable) = 0;
};
SHEAF_DECLARE_IID(ID3D12Debug1, 0xaffaa4ca, 0x63fe, 0x4d8e, 0xb8, 0xad, 0x15, 0x90, 0x00, 0xaf,
                  0x43, 0x04)

struct ID3D12Debug3 : ID3D12Debug {
  virtual void SetEnableGPUBasedValidation(BOOL enable) = 0;
  virtual void SetEnableSynchronizedCommandQueueValidation(BOOL enable) = 0;
  virtual void SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS flags) = 0;
};
SHEAF_DECLARE_IID(ID3D12Debug3, 0x5cf4e58f, 0xf671, 0x4ff1, 0xa5, 0x42, 0x36, 0x86, 0xe3, 0xd1,
                  0x53, 0xd1)

struct ID3D12InfoQueue : IUnknown {
  virtual HRESULT SetMessageCountLimit(UINT64 message_count_limit) = 0;
  virtual void ClearStoredMessages() = 0;
  virtual HRESULT GetMessage(UINT64 message_index, D3D12_MESSAGE* message,
                             SIZE_T* message_byte_length) = 0;
  virtual UINT64 GetNumMessagesAllowedByStorageFilter() = 0;
  virtual UINT64 GetNumMessagesDeniedByStorageFilter() = 0;
  virtual UINT64 GetNumStoredMessages() = 0;
  virtual UINT64 GetNumStoredMessagesAllowedByRetrievalFilter() = 0;
  virtual UINT64 GetNumMessagesDiscardedByMessageCountLimit() = 0;
  virtual UINT64 GetMessageCountLimit() = 0;
  virtual HRESULT AddStorageFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) = 0;
  virtual HRESULT GetStorageFilter(D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* filter_byte_length) = 0;
  virtual void ClearStorageFilter() = 0;
  virtual HRESULT PushEmptyStorageFilter() = 0;
  virtual HRESULT PushCopyOfStorageFilter() = 0;
  virtual HRESULT PushStorageFilter(D3D12_INFO_QUEUE_FILTER* filter) = 0;
  virtual void PopStorageFilter() = 0;
  virtual UINT GetStorageFilterStackSize() = 0;
  virtual HRESULT AddRetrievalFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) = 0;
  virtual HRESULT GetRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter,
                                     SIZE_T* filter_byte_length) = 0;
  virtual void ClearRetrievalFilter() = 0;
  virtual HRESULT PushEmptyRetrievalFilter() = 0;
  virtual HRESULT PushCopyOfRetrievalFilter() = 0;
  virtual HRESULT PushRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter) = 0;
  virtual void PopRetrievalFilter() = 0;
  virtual UINT GetRetrievalFilterStackSize() = 0;
  virtual HRESULT AddMessage(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                             D3D12_MESSAGE_ID id, LPCSTR description) = 0;
  virtual HRESULT AddApplicationMessage(D3D12_MESSAGE_SEVERITY severity, LPCSTR description) = 0;
  virtual HRESULT SetBreakOnCategory(D3D12_MESSAGE_CATEGORY category, BOOL enable) = 0;
  virtual HRESULT SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity, BOOL enable) = 0;
  virtual HRESULT SetBreakOnID(D3D12_MESSAGE_ID id, BOOL enable) = 0;
  virtual BOOL GetBreakOnCategory(D3D12_MESSAGE_CATEGORY category) = 0;
  virtual BOOL GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity) = 0;
  virtual BOOL GetBreakOnID(D3D12_MESSAGE_ID id) = 0;
  virtual void SetMuteDebugOutput(BOOL mute) = 0;
  virtual BOOL GetMuteDebugOutput() = 0;
};
SHEAF_DECLARE_IID(ID3D12InfoQueue, 0x0742a90b, 0xc387, 0x483f, 0xb9, 0x46, 0x30, 0xa7, 0xe4, 0xe6,
                  0x14, 0x58)

struct ID3D12InfoQueue1 : ID3D12InfoQueue {
  virtual HRESULT RegisterMessageCallback(D3D12MessageFunc callback_func,
                                          D3D12_MESSAGE_CALLBACK_FLAGS callback_filter_flags,
                                          void* context, DWORD* callback_cookie) = 0;
  virtual HRESULT UnregisterMessageCallback(DWORD callback_cookie) = 0;
};
SHEAF_DECLARE_IID(ID3D12InfoQueue1, 0x2852dd88, 0xb484, 0x4c0c, 0xb6, 0xb1, 0x67, 0x16, 0x85, 0x00,
                  0xe6, 0x00)

// The class of the debug layer for D3D12GetInterface.
inline constexpr GUID CLSID_D3D12Debug = {
    0xf2352aeb, 0xdd84, 0x49fe, {0xb9, 0x7b, 0xa9, 0xdc, 0xfd, 0xcc, 0x1b, 0x4f}};

extern "C" HRESULT D3D12GetDebugInterface(REFIID iid, void** debug);

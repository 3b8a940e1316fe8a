// SPDX-License-Identifier: MIT
//
// The types of Windows that COM interfaces are written in: integers, HRESULT, GUID, IUnknown,
// IID_PPV_ARGS. Where the DirectX headers for Linux (directx-headers-dev) are on the include path,
// theirs are used and the two can be mixed in one program; their sizes and layouts are the same.
#pragma once

#if !defined(SHEAF_OWN_D3D12) && __has_include(<rpcndr.h>) && __has_include(<directx/d3d12.h>)
#define SHEAF_OWN_D3D12 0
#elif !defined(SHEAF_OWN_D3D12)
#define SHEAF_OWN_D3D12 1
#endif

#if !SHEAF_OWN_D3D12

#include <wsl/winadapter.h>

// Gives an interface its IID, for __uuidof and IID_PPV_ARGS.
#define SHEAF_DECLARE_IID(type, ...) __CRT_UUID_DECL(type, __VA_ARGS__)

#else

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "sheaf_sal.h"

using INT8 = int8_t;
using UINT8 = uint8_t;
using INT16 = int16_t;
using UINT16 = uint16_t;
using INT = int32_t;
using INT32 = int32_t;
using LONG = int32_t;
using HRESULT = int32_t;
using UINT = uint32_t;
using UINT32 = uint32_t;
using ULONG = uint32_t;
using DWORD = uint32_t;
using BOOL = uint32_t;
using INT64 = int64_t;
using LONG_PTR = int64_t;
using UINT64 = uint64_t;
using SIZE_T = size_t;
using FLOAT = float;
using DOUBLE = double;
using BYTE = unsigned char;
using HANDLE = void*;
using CHAR = char;
using PCSTR = const char*;
using LPCSTR = const char*;
using VOID = void;
using LPVOID = void*;
using HMODULE = void*;
using HWND = int;
using WCHAR = wchar_t;
using PCWSTR = const wchar_t*;
using LPCWSTR = const wchar_t*;

#define TRUE 1u
#define FALSE 0u
#define STDMETHODCALLTYPE
#define WINAPI
#define interface struct
#define DECLSPEC_SELECTANY __attribute__((weak))

#define SUCCEEDED(result) (static_cast<HRESULT>(result) >= 0)
#define FAILED(result) (static_cast<HRESULT>(result) < 0)
#define S_OK static_cast<HRESULT>(0)
#define S_FALSE static_cast<HRESULT>(1)
#define E_NOTIMPL static_cast<HRESULT>(0x80004001u)
#define E_NOINTERFACE static_cast<HRESULT>(0x80004002u)
#define E_POINTER static_cast<HRESULT>(0x80004003u)
#define E_ABORT static_cast<HRESULT>(0x80004004u)
#define E_FAIL static_cast<HRESULT>(0x80004005u)
#define E_UNEXPECTED static_cast<HRESULT>(0x8000FFFFu)
#define E_ACCESSDENIED static_cast<HRESULT>(0x80070005u)
#define E_HANDLE static_cast<HRESULT>(0x80070006u)
#define E_OUTOFMEMORY static_cast<HRESULT>(0x8007000Eu)
#define E_INVALIDARG static_cast<HRESULT>(0x80070057u)
#define DXGI_ERROR_INVALID_CALL static_cast<HRESULT>(0x887A0001u)
#define DXGI_ERROR_NOT_FOUND static_cast<HRESULT>(0x887A0002u)
#define DXGI_ERROR_MORE_DATA static_cast<HRESULT>(0x887A0003u)
#define DXGI_ERROR_UNSUPPORTED static_cast<HRESULT>(0x887A0004u)
#define DXGI_ERROR_DEVICE_REMOVED static_cast<HRESULT>(0x887A0005u)
#define DXGI_ERROR_DRIVER_INTERNAL_ERROR static_cast<HRESULT>(0x887A0020u)

struct GUID {
  uint32_t Data1;
  uint16_t Data2;
  uint16_t Data3;
  uint8_t Data4[8];
};
using IID = GUID;
#define REFGUID const GUID&
#define REFIID const IID&

constexpr bool operator==(const GUID& a, const GUID& b) {
  for (int i = 0; i < 8; ++i) {
    if (a.Data4[i] != b.Data4[i]) {
      return false;
    }
  }
  return a.Data1 == b.Data1 && a.Data2 == b.Data2 && a.Data3 == b.Data3;
}
constexpr bool operator!=(const GUID& a, const GUID& b) { return !(a == b); }

struct LUID {
  ULONG LowPart;
  LONG HighPart;
};

union LARGE_INTEGER {
  struct {
    DWORD LowPart;
    LONG HighPart;
  } u;
  INT64 QuadPart;
};

// The memory that helper headers work in. `flags` say nothing that matters here.
inline HANDLE GetProcessHeap() { return nullptr; }
inline void* HeapAlloc(HANDLE, DWORD, SIZE_T bytes) { return std::malloc(bytes); }
inline BOOL HeapFree(HANDLE, DWORD, void* memory) {
  std::free(memory);
  return 1;
}

namespace sheaf_com {
// The IID of an interface; SHEAF_DECLARE_IID specialises it.
template <class Interface>
struct IidOf;

template <class T>
constexpr const IID& iid_of() {
  return IidOf<std::remove_cv_t<std::remove_pointer_t<std::remove_reference_t<T>>>>::value;
}
}  // namespace sheaf_com

#define SHEAF_DECLARE_IID(type, data1, data2, data3, ...)              \
  template <>                                                          \
  struct sheaf_com::IidOf<type> {                                      \
    static constexpr IID value = {data1, data2, data3, {__VA_ARGS__}}; \
  };

// The name that programs write. clang's own keyword of it is on only with -fms-extensions.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#define __uuidof(type_or_object) (sheaf_com::iid_of<__typeof__(type_or_object)>())
#ifdef __clang__
#pragma clang diagnostic pop
#endif

struct IUnknown {
  virtual HRESULT QueryInterface(REFIID iid, void** object) = 0;
  virtual ULONG AddRef() = 0;
  virtual ULONG Release() = 0;

  template <class Interface>
  HRESULT QueryInterface(Interface** object) {
    return QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(object));
  }
};
SHEAF_DECLARE_IID(IUnknown, 0x00000000, 0x0000, 0x0000, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                  0x46)

template <class Interface>
void** IID_PPV_ARGS_Helper(Interface** object) {
  static_assert(std::is_base_of_v<IUnknown, Interface>, "a COM interface");
  return reinterpret_cast<void**>(object);
}
#define IID_PPV_ARGS(object) __uuidof(**(object)), IID_PPV_ARGS_Helper(object)

// The bit operators of an enumeration of flags.
#define DEFINE_ENUM_FLAG_OPERATORS(E)                                              \
  constexpr E operator|(E a, E b) {                                                \
    return static_cast<E>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));    \
  }                                                                                \
  constexpr E operator&(E a, E b) {                                                \
    return static_cast<E>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));    \
  }                                                                                \
  constexpr E operator^(E a, E b) {                                                \
    return static_cast<E>(static_cast<uint32_t>(a) ^ static_cast<uint32_t>(b));    \
  }                                                                                \
  constexpr E operator~(E a) { return static_cast<E>(~static_cast<uint32_t>(a)); } \
  constexpr E& operator|=(E& a, E b) { return a = a | b; }                         \
  constexpr E& operator&=(E& a, E b) { return a = a & b; }                         \
  constexpr E& operator^=(E& a, E b) { return a = a ^ b; }

#endif  // SHEAF_OWN_D3D12

// What samples use of windows.h; the DirectX headers for Linux have only some of it.
#ifndef ARRAYSIZE
#define ARRAYSIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#ifndef _countof
#define _countof(array) ARRAYSIZE(array)
#endif
#ifndef INFINITE
#define INFINITE 0xffffffff
#endif

// IID_GRAPHICS_PPV_ARGS is the name that samples use to compile for Xbox as well.
#ifndef IID_GRAPHICS_PPV_ARGS
#define IID_GRAPHICS_PPV_ARGS(object) IID_PPV_ARGS(object)
#endif

// SPDX-License-Identifier: MIT
//
// The names, values and structs of DirectML's gathers and scatters, without Windows. Include
// sheaf/directml.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sheaf/directml_operators.h"

#pragma GCC visibility push(default)

namespace sheaf::dml {

class HostBuffer;  // sheaf/directml.h

inline namespace directml {

using UINT = uint32_t;
using UINT64 = uint64_t;
#ifdef _WIN32
using BOOL = int;      // the types that <windows.h> gives them
using HRESULT = long;  // 32 bits there
#else
using BOOL = uint32_t;  // those of the DirectX headers for Linux
using HRESULT = int32_t;
#endif

// <windows.h> has these as macros. Where it came first its own are used; it may also come later.
#ifndef S_OK
inline constexpr HRESULT S_OK = 0;
#endif
#ifndef S_FALSE
inline constexpr HRESULT S_FALSE = 1;
#endif
#ifndef E_FAIL
inline constexpr HRESULT E_FAIL = static_cast<HRESULT>(0x80004005u);
#endif
#ifndef E_OUTOFMEMORY
inline constexpr HRESULT E_OUTOFMEMORY = static_cast<HRESULT>(0x8007000Eu);
#endif
#ifndef E_INVALIDARG
inline constexpr HRESULT E_INVALIDARG = static_cast<HRESULT>(0x80070057u);
#endif
#ifndef DXGI_ERROR_UNSUPPORTED
inline constexpr HRESULT DXGI_ERROR_UNSUPPORTED = static_cast<HRESULT>(0x887A0004u);
#endif
#ifndef SUCCEEDED
constexpr bool SUCCEEDED(HRESULT result) { return result >= 0; }
#endif
#ifndef FAILED
constexpr bool FAILED(HRESULT result) { return result < 0; }
#endif

#include "sheaf/directml_declarations.inc"

}  // namespace directml

namespace detail {
template <class E>
concept Flags = std::is_same_v<E, DML_TENSOR_FLAGS> || std::is_same_v<E, DML_CREATE_DEVICE_FLAGS> ||
    std::is_same_v<E, DML_EXECUTION_FLAGS>;
}

inline namespace directml {

// The three masks combine without losing their type.
template <detail::Flags E>
constexpr E operator|(E a, E b) {
  return static_cast<E>(int32_t{a} | int32_t{b});
}
template <detail::Flags E>
constexpr E operator&(E a, E b) {
  return static_cast<E>(int32_t{a} & int32_t{b});
}
template <detail::Flags E>
constexpr E operator^(E a, E b) {
  return static_cast<E>(int32_t{a} ^ int32_t{b});
}
template <detail::Flags E>
constexpr E operator~(E a) {
  return static_cast<E>(~int32_t{a});
}
template <detail::Flags E>
constexpr E& operator|=(E& a, E b) {
  return a = a | b;
}
template <detail::Flags E>
constexpr E& operator&=(E& a, E b) {
  return a = a & b;
}
template <detail::Flags E>
constexpr E& operator^=(E& a, E b) {
  return a = a ^ b;
}

// As DirectML's, with host memory in place of the ID3D12Resource.
struct DML_BUFFER_BINDING {
  const HostBuffer* Buffer;
  UINT64 Offset;
  UINT64 SizeInBytes;
};

}  // namespace directml
}  // namespace sheaf::dml

#pragma GCC visibility pop

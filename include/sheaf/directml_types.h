// SPDX-License-Identifier: MIT
//
// The names, values and structs of DirectML's gathers and scatters, without Windows. Include
// sheaf/directml.h.
#pragma once

#include <cstdint>
#include <type_traits>

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

inline constexpr UINT DML_TENSOR_DIMENSION_COUNT_MAX = 5;
inline constexpr UINT DML_TENSOR_DIMENSION_COUNT_MAX1 = 8;
inline constexpr UINT DML_TEMPORARY_BUFFER_ALIGNMENT = 256;
inline constexpr UINT DML_PERSISTENT_BUFFER_ALIGNMENT = 256;
inline constexpr UINT DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT = 16;

// The underlying type is spelled out so that a value from outside, whatever it is, can be looked
// at.
enum DML_TENSOR_DATA_TYPE : int32_t {
  DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
  DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
  DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
  DML_TENSOR_DATA_TYPE_UINT32 = 3,
  DML_TENSOR_DATA_TYPE_UINT16 = 4,
  DML_TENSOR_DATA_TYPE_UINT8 = 5,
  DML_TENSOR_DATA_TYPE_INT32 = 6,
  DML_TENSOR_DATA_TYPE_INT16 = 7,
  DML_TENSOR_DATA_TYPE_INT8 = 8,
  DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
  DML_TENSOR_DATA_TYPE_UINT64 = 10,
  DML_TENSOR_DATA_TYPE_INT64 = 11,
  DML_TENSOR_DATA_TYPE_UINT4 = 12,
  DML_TENSOR_DATA_TYPE_INT4 = 13,
};

enum DML_TENSOR_TYPE : int32_t {
  DML_TENSOR_TYPE_INVALID = 0,
  DML_TENSOR_TYPE_BUFFER = 1,
};

enum DML_TENSOR_FLAGS : int32_t {
  DML_TENSOR_FLAG_NONE = 0,
  DML_TENSOR_FLAG_OWNED_BY_DML = 1,
};

enum DML_OPERATOR_TYPE : int32_t {
  DML_OPERATOR_INVALID = 0,
  DML_OPERATOR_GATHER = 67,
  DML_OPERATOR_SCATTER_ELEMENTS = 94,
  DML_OPERATOR_SCATTER = DML_OPERATOR_SCATTER_ELEMENTS,
  DML_OPERATOR_GATHER_ELEMENTS = 107,
  DML_OPERATOR_GATHER_ND = 108,
  DML_OPERATOR_SCATTER_ND = 109,
  DML_OPERATOR_GATHER_ND1 = 140,
};

enum DML_FEATURE_LEVEL : int32_t {
  DML_FEATURE_LEVEL_1_0 = 0x1000,
  DML_FEATURE_LEVEL_2_0 = 0x2000,
  DML_FEATURE_LEVEL_2_1 = 0x2100,
  DML_FEATURE_LEVEL_3_0 = 0x3000,
  DML_FEATURE_LEVEL_3_1 = 0x3100,
  DML_FEATURE_LEVEL_4_0 = 0x4000,
  DML_FEATURE_LEVEL_4_1 = 0x4100,
  DML_FEATURE_LEVEL_5_0 = 0x5000,
  DML_FEATURE_LEVEL_5_1 = 0x5100,
  DML_FEATURE_LEVEL_5_2 = 0x5200,
  DML_FEATURE_LEVEL_6_0 = 0x6000,
  DML_FEATURE_LEVEL_6_1 = 0x6100,
  DML_FEATURE_LEVEL_6_2 = 0x6200,
  DML_FEATURE_LEVEL_6_3 = 0x6300,
  DML_FEATURE_LEVEL_6_4 = 0x6400,
};

enum DML_FEATURE : int32_t {
  DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT = 0,
  DML_FEATURE_FEATURE_LEVELS = 1,
};

enum DML_CREATE_DEVICE_FLAGS : int32_t {
  DML_CREATE_DEVICE_FLAG_NONE = 0,
  DML_CREATE_DEVICE_FLAG_DEBUG = 1,
};

enum DML_EXECUTION_FLAGS : int32_t {
  DML_EXECUTION_FLAG_NONE = 0,
  DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION = 1,
  DML_EXECUTION_FLAG_DISABLE_META_COMMANDS = 2,
  DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE = 4,
};

enum DML_BINDING_TYPE : int32_t {
  DML_BINDING_TYPE_NONE = 0,
  DML_BINDING_TYPE_BUFFER = 1,
  DML_BINDING_TYPE_BUFFER_ARRAY = 2,
};

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

struct DML_BUFFER_TENSOR_DESC {
  DML_TENSOR_DATA_TYPE DataType;
  DML_TENSOR_FLAGS Flags;
  UINT DimensionCount;
  const UINT* Sizes;
  const UINT* Strides;  // in elements; null: packed; 0: broadcast
  UINT64 TotalTensorSizeInBytes;
  UINT GuaranteedBaseOffsetAlignment;
};

struct DML_TENSOR_DESC {
  DML_TENSOR_TYPE Type;
  const void* Desc;
};

struct DML_OPERATOR_DESC {
  DML_OPERATOR_TYPE Type;
  const void* Desc;
};

struct DML_GATHER_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
  UINT IndexDimensions;
};

struct DML_GATHER_ELEMENTS_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};

struct DML_GATHER_ND_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
};

struct DML_GATHER_ND1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
  UINT BatchDimensionCount;
};

struct DML_SCATTER_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* UpdatesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};
using DML_SCATTER_ELEMENTS_OPERATOR_DESC = DML_SCATTER_OPERATOR_DESC;

struct DML_SCATTER_ND_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* UpdatesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
};

struct DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
  DML_TENSOR_DATA_TYPE DataType;
};

struct DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
  BOOL IsSupported;
};

struct DML_FEATURE_QUERY_FEATURE_LEVELS {
  UINT RequestedFeatureLevelCount;
  const DML_FEATURE_LEVEL* RequestedFeatureLevels;
};

struct DML_FEATURE_DATA_FEATURE_LEVELS {
  DML_FEATURE_LEVEL MaxSupportedFeatureLevel;
};

struct DML_BINDING_PROPERTIES {
  UINT RequiredDescriptorCount;
  UINT64 TemporaryResourceSize;
  UINT64 PersistentResourceSize;
};

// As DirectML's, with host memory in place of the ID3D12Resource.
struct DML_BUFFER_BINDING {
  const HostBuffer* Buffer;
  UINT64 Offset;
  UINT64 SizeInBytes;
};

struct DML_BINDING_DESC {
  DML_BINDING_TYPE Type;
  const void* Desc;
};

}  // namespace directml
}  // namespace sheaf::dml

#pragma GCC visibility pop

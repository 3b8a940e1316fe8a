// SPDX-License-Identifier: MIT
//
// DLPack's ABI and the numbers of sheaf/c.h, checked by the compiler as C11 and as C++.
#pragma once

#include <assert.h>
#include <sheaf/c.h>
#include <stddef.h>

static_assert(DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 1, "version");
static_assert(sizeof(DLDataType) == 4 && sizeof(DLDevice) == 8, "small structs");
static_assert(offsetof(DLDataType, code) == 0 && offsetof(DLDataType, bits) == 1, "DLDataType");
static_assert(offsetof(DLDataType, lanes) == 2, "DLDataType");
static_assert(offsetof(DLDevice, device_type) == 0 && offsetof(DLDevice, device_id) == 4, "device");

#if defined(__LP64__)
static_assert(sizeof(DLTensor) == 48, "DLTensor");
static_assert(offsetof(DLTensor, data) == 0 && offsetof(DLTensor, device) == 8, "DLTensor");
static_assert(offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20, "DLTensor");
static_assert(offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32, "DLTensor");
static_assert(offsetof(DLTensor, byte_offset) == 40, "DLTensor");
static_assert(sizeof(DLManagedTensor) == 64, "DLManagedTensor");
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48, "DLManagedTensor");
static_assert(offsetof(DLManagedTensor, deleter) == 56, "DLManagedTensor");
static_assert(sizeof(DLManagedTensorVersioned) == 80, "DLManagedTensorVersioned");
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8, "DLManagedTensorVersioned");
static_assert(offsetof(DLManagedTensorVersioned, deleter) == 16, "DLManagedTensorVersioned");
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24, "DLManagedTensorVersioned");
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "DLManagedTensorVersioned");
#endif

static_assert(DLPACK_FLAG_BITMASK_READ_ONLY == 1 && DLPACK_FLAG_BITMASK_IS_COPIED == 2, "flags");
static_assert(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED == 4, "flags");

static_assert(kDLCPU == 1 && kDLCUDA == 2 && kDLCUDAHost == 3 && kDLOpenCL == 4, "devices");
static_assert(kDLVulkan == 7 && kDLMetal == 8 && kDLVPI == 9 && kDLROCM == 10, "devices");
static_assert(kDLROCMHost == 11 && kDLExtDev == 12 && kDLCUDAManaged == 13, "devices");
static_assert(kDLOneAPI == 14 && kDLWebGPU == 15 && kDLHexagon == 16 && kDLMAIA == 17, "devices");

static_assert(kDLInt == 0 && kDLUInt == 1 && kDLFloat == 2 && kDLOpaqueHandle == 3, "codes");
static_assert(kDLBfloat == 4 && kDLComplex == 5 && kDLBool == 6 && kDLFloat8_e3m4 == 7, "codes");
static_assert(kDLFloat8_e4m3 == 8 && kDLFloat8_e4m3b11fnuz == 9, "codes");
static_assert(kDLFloat8_e4m3fn == 10 && kDLFloat8_e4m3fnuz == 11, "codes");
static_assert(kDLFloat8_e5m2 == 12 && kDLFloat8_e5m2fnuz == 13, "codes");
static_assert(kDLFloat8_e8m0fnu == 14 && kDLFloat6_e2m3fn == 15, "codes");
static_assert(kDLFloat6_e3m2fn == 16 && kDLFloat4_e2m1fn == 17, "codes");

// Zero is the default everywhere.
static_assert(SHEAF_OK == 0 && SHEAF_NEGATIVE_DEFAULT == 0, "defaults");
static_assert(SHEAF_OUT_OF_RANGE_DEFAULT == 0 && SHEAF_SCALAR_INT == 0, "defaults");
static_assert(SHEAF_REDUCE_NONE == 0 && SHEAF_REDUCE_MEAN == 6 && SHEAF_SKIP == 6, "scatters");
static_assert(SHEAF_PLAIN == 0 && SHEAF_POOL_SUM == 0 && SHEAF_OFFSETS == 0, "bags");

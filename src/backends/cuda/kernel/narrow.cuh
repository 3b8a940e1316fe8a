// SPDX-License-Identifier: MIT
//
// plan/reduce.h's narrowed(), by the processor's own conversions.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "sheaf/dtype.h"

namespace sheaf::cuda {

__device__ inline float16 narrow_f16(float value) {
  return {value != value ? uint16_t{0x7E00} : __half_as_ushort(__float2half_rn(value))};
}
__device__ inline bfloat16 narrow_bf16(float value) {
  return {value != value ? uint16_t{0x7FC0} : __bfloat16_as_ushort(__float2bfloat16_rn(value))};
}

}  // namespace sheaf::cuda

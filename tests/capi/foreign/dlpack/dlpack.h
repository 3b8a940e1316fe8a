// SPDX-License-Identifier: MIT
//
// Stands for the DLPack header that a user may have: an older one, with the guard that they all
// share, and with less in it than ours. (#pragma once is for the house's own check.)
#pragma once
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

typedef enum { kDLCPU = 1 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

#define FOREIGN_DLPACK_WAS_USED

#endif

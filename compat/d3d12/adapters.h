// SPDX-License-Identifier: MIT
//
// The adapters of this machine: the host, and each device that this build can run plans on. DXCore
// and DXGI list them, and D3D12CreateDevice takes one.
#pragma once

#include <string>
#include <vector>

#include "com_object.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

struct Adapter {
  std::string device;  // of device_names(); empty: the host
  std::string name;    // as execution describes it
  UINT64 memory_bytes;
  UINT vendor;  // of PCI; 0: not known
  LUID luid;

  bool on_host() const { return device.empty(); }
};

// The first is the one that a null adapter means: the host, or what SHEAF_D3D12_DEVICE names. Made
// once, and never destroyed.
SHEAF_EXPORT const std::vector<Adapter>& adapters();

// Null if there is none.
SHEAF_EXPORT const Adapter* adapter_of(const LUID& luid);

// What D3D12CreateDevice was given: one of DXCore's or DXGI's, or null for the first.
const Adapter* adapter_of(IUnknown* object);

// All of them: devices before the host if `fast`, after it otherwise.
SHEAF_EXPORT std::vector<const Adapter*> sorted_adapters(bool fast);

// What is left of its memory now.
SHEAF_EXPORT UINT64 free_bytes(const Adapter& adapter);

}  // namespace sheaf::d3d12

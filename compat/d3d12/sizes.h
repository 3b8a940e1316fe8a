// SPDX-License-Identifier: MIT
//
// What buffers need in heaps and in copies, and which of them there are.
#pragma once

#include "d3d12.h"

namespace sheaf::d3d12 {

// The older description in the newer, and back; the newer adds what buffers do not have.
D3D12_RESOURCE_DESC1 newer(const D3D12_RESOURCE_DESC& desc);
D3D12_RESOURCE_DESC older(const D3D12_RESOURCE_DESC1& desc);

// Why there is no such buffer; null if there is.
const char* refusal_of(const D3D12_RESOURCE_DESC* desc);

// Of buffers one after the other; `each` may be null. UINT64_MAX bytes say that there is no such
// resource, as in Direct3D.
D3D12_RESOURCE_ALLOCATION_INFO allocation_of(UINT count, const D3D12_RESOURCE_DESC* descs,
                                             D3D12_RESOURCE_ALLOCATION_INFO1* each);

// What GetCopyableFootprints fills in; any may be null.
struct Footprints {
  D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts;
  UINT* rows;
  UINT64* row_bytes;
  UINT64* total_bytes;
};
// Of a buffer: one row. Where there is no answer every output has all its bits set, as in Direct3D.
void footprints_of(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count, UINT64 offset,
                   const Footprints& out);

}  // namespace sheaf::d3d12

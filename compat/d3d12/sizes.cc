// SPDX-License-Identifier: MIT
#include "sizes.h"

#include <climits>
#include <cstring>

#include "support/checked.h"

namespace sheaf::d3d12 {

D3D12_RESOURCE_DESC1 newer(const D3D12_RESOURCE_DESC& desc) {
  return {desc.Dimension,        desc.Alignment, desc.Width,  desc.Height,
          desc.DepthOrArraySize, desc.MipLevels, desc.Format, desc.SampleDesc,
          desc.Layout,           desc.Flags,     {}};
}

D3D12_RESOURCE_DESC older(const D3D12_RESOURCE_DESC1& desc) {
  return {desc.Dimension, desc.Alignment, desc.Width,      desc.Height, desc.DepthOrArraySize,
          desc.MipLevels, desc.Format,    desc.SampleDesc, desc.Layout, desc.Flags};
}

const char* refusal_of(const D3D12_RESOURCE_DESC* desc) {
  if (desc == nullptr || desc->Width == 0 || desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return "only buffers of at least 1 byte can be created";
  }
  if (desc->Alignment != 0 && desc->Alignment != D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT) {
    return "the Alignment of a buffer is 0 or 65536";
  }
  return nullptr;
}

D3D12_RESOURCE_ALLOCATION_INFO allocation_of(UINT count, const D3D12_RESOURCE_DESC* descs,
                                             D3D12_RESOURCE_ALLOCATION_INFO1* each) {
  constexpr UINT64 kAlignment = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
  UINT64 sum = 0;
  bool known = true;
  for (UINT i = 0; i < count; ++i) {
    const bool buffer = descs != nullptr && descs[i].Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
    const auto bytes = buffer ? checked_round_up(descs[i].Width, kAlignment) : std::nullopt;
    const auto next = bytes ? checked_add(sum, *bytes) : std::nullopt;
    known = known && next;
    if (each != nullptr) {
      each[i] = {sum, kAlignment, bytes.value_or(UINT64_MAX)};
    }
    sum = next.value_or(sum);
  }
  return {known ? sum : UINT64_MAX, kAlignment};
}

void footprints_of(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count, UINT64 offset,
                   const Footprints& out) {
  constexpr UINT64 kPitch = 256;
  const UINT64 bytes = desc == nullptr ? UINT64_MAX : desc->Width;
  const UINT64 pitch = checked_round_up(bytes, kPitch).value_or(UINT64_MAX);
  const bool known = first == 0 && count <= 1 && pitch <= UINT_MAX && checked_add(offset, bytes);
  for (UINT i = 0; i < count; ++i) {
    if (out.layouts != nullptr && known) {
      out.layouts[i] = {
          offset, {DXGI_FORMAT_UNKNOWN, static_cast<UINT>(bytes), 1, 1, static_cast<UINT>(pitch)}};
    } else if (out.layouts != nullptr) {
      std::memset(&out.layouts[i], 0xFF, sizeof out.layouts[i]);
    }
    if (out.rows != nullptr) {
      out.rows[i] = known ? 1 : UINT_MAX;
    }
    if (out.row_bytes != nullptr) {
      out.row_bytes[i] = known ? bytes : UINT64_MAX;
    }
  }
  if (out.total_bytes != nullptr) {
    *out.total_bytes = known ? bytes : UINT64_MAX;
  }
}

}  // namespace sheaf::d3d12

// SPDX-License-Identifier: MIT
//
// Views of buffers, and the bytes that a clear writes through one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bridge.h"
#include "descriptors.h"

namespace sheaf::d3d12 {

// The descriptor of a view. Throws std::invalid_argument with the reason where Direct3D has no such
// view of this buffer.
Descriptor make_view(const BufferMemory& buffer, const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc);

// One element of the view, from four integers: the low bits of each, without conversion. A raw or
// structured view takes the first.
std::vector<std::byte> element_of(const Descriptor& view, const UINT* values);
// From four floats, converted to the format. Throws std::invalid_argument for integers, raw and
// structured views.
std::vector<std::byte> element_of(const Descriptor& view, const FLOAT* values);

// Writes `element` to [first, first + count) of the view's elements.
void fill_elements(const BufferMemory& buffer, const std::vector<std::byte>& element, UINT64 first,
                   UINT64 count);

}  // namespace sheaf::d3d12

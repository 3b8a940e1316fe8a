// SPDX-License-Identifier: MIT
#include "views.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "support/bit_cast.h"
#include "support/checked.h"
#include "support/float_bits.h"

namespace sheaf::d3d12 {
namespace {

enum class Channel { kFloat, kInteger, kUnorm, kSnorm };

// The formats that a view of a buffer can have.
struct Format {
  DXGI_FORMAT format;
  UINT channels, bytes;  // of a channel
  Channel kind;
};

constexpr Format kFormats[] = {
    {DXGI_FORMAT_R32G32B32A32_FLOAT, 4, 4, Channel::kFloat},
    {DXGI_FORMAT_R32G32B32A32_UINT, 4, 4, Channel::kInteger},
    {DXGI_FORMAT_R32G32B32A32_SINT, 4, 4, Channel::kInteger},
    {DXGI_FORMAT_R16G16B16A16_FLOAT, 4, 2, Channel::kFloat},
    {DXGI_FORMAT_R16G16B16A16_UNORM, 4, 2, Channel::kUnorm},
    {DXGI_FORMAT_R16G16B16A16_UINT, 4, 2, Channel::kInteger},
    {DXGI_FORMAT_R16G16B16A16_SNORM, 4, 2, Channel::kSnorm},
    {DXGI_FORMAT_R16G16B16A16_SINT, 4, 2, Channel::kInteger},
    {DXGI_FORMAT_R32G32_FLOAT, 2, 4, Channel::kFloat},
    {DXGI_FORMAT_R32G32_UINT, 2, 4, Channel::kInteger},
    {DXGI_FORMAT_R32G32_SINT, 2, 4, Channel::kInteger},
    {DXGI_FORMAT_R8G8B8A8_UNORM, 4, 1, Channel::kUnorm},
    {DXGI_FORMAT_R8G8B8A8_UINT, 4, 1, Channel::kInteger},
    {DXGI_FORMAT_R8G8B8A8_SNORM, 4, 1, Channel::kSnorm},
    {DXGI_FORMAT_R8G8B8A8_SINT, 4, 1, Channel::kInteger},
    {DXGI_FORMAT_R16G16_FLOAT, 2, 2, Channel::kFloat},
    {DXGI_FORMAT_R16G16_UNORM, 2, 2, Channel::kUnorm},
    {DXGI_FORMAT_R16G16_UINT, 2, 2, Channel::kInteger},
    {DXGI_FORMAT_R16G16_SNORM, 2, 2, Channel::kSnorm},
    {DXGI_FORMAT_R16G16_SINT, 2, 2, Channel::kInteger},
    {DXGI_FORMAT_R32_FLOAT, 1, 4, Channel::kFloat},
    {DXGI_FORMAT_R32_UINT, 1, 4, Channel::kInteger},
    {DXGI_FORMAT_R32_SINT, 1, 4, Channel::kInteger},
    {DXGI_FORMAT_R8G8_UNORM, 2, 1, Channel::kUnorm},
    {DXGI_FORMAT_R8G8_UINT, 2, 1, Channel::kInteger},
    {DXGI_FORMAT_R8G8_SNORM, 2, 1, Channel::kSnorm},
    {DXGI_FORMAT_R8G8_SINT, 2, 1, Channel::kInteger},
    {DXGI_FORMAT_R16_FLOAT, 1, 2, Channel::kFloat},
    {DXGI_FORMAT_R16_UNORM, 1, 2, Channel::kUnorm},
    {DXGI_FORMAT_R16_UINT, 1, 2, Channel::kInteger},
    {DXGI_FORMAT_R16_SNORM, 1, 2, Channel::kSnorm},
    {DXGI_FORMAT_R16_SINT, 1, 2, Channel::kInteger},
    {DXGI_FORMAT_R8_UNORM, 1, 1, Channel::kUnorm},
    {DXGI_FORMAT_R8_UINT, 1, 1, Channel::kInteger},
    {DXGI_FORMAT_R8_SNORM, 1, 1, Channel::kSnorm},
    {DXGI_FORMAT_R8_SINT, 1, 1, Channel::kInteger},
};

const Format* find_format(DXGI_FORMAT format) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [format](const Format& f) { return f.format == format; });
  return found == std::end(kFormats) ? nullptr : found;
}

[[noreturn]] void refuse(const char* reason) { throw std::invalid_argument(reason); }

// Bytes of an element. A raw view has elements of 4.
UINT element_bytes(const D3D12_UNORDERED_ACCESS_VIEW_DESC& desc) {
  const UINT stride = desc.Buffer.StructureByteStride;
  if ((desc.Buffer.Flags & D3D12_BUFFER_UAV_FLAG_RAW) != 0) {
    if (desc.Format != DXGI_FORMAT_R32_TYPELESS || stride != 0) {
      refuse("a raw view has the format R32_TYPELESS and StructureByteStride 0");
    }
    return 4;
  }
  if (desc.Format == DXGI_FORMAT_UNKNOWN) {
    if (stride == 0 || stride > 2048 || stride % 4 != 0) {
      refuse("a structured view has a StructureByteStride of 4 to 2048, in steps of 4");
    }
    return stride;
  }
  const Format* format = find_format(desc.Format);
  if (format == nullptr || stride != 0) {
    refuse(
        "a typed view of a buffer has a format of 8, 16 or 32 bits in 1, 2 or 4 channels, and "
        "StructureByteStride 0");
  }
  return format->channels * format->bytes;
}

template <class T>
void append(std::vector<std::byte>& element, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  element.insert(element.end(), bytes, bytes + sizeof value);
}

// The low bytes of `value`. The memory of this machine is little-endian, as Direct3D's is.
void append_low(std::vector<std::byte>& element, UINT value, UINT bytes) {
  for (UINT i = 0; i < bytes; ++i) {
    element.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

// To a fraction of 2^bits - 1, or of 2^(bits - 1) - 1 with a sign, to the nearest. NaN becomes 0.
UINT normalized(const Format& format, FLOAT value) {
  const bool has_sign = format.kind == Channel::kSnorm;
  const double limit = std::ldexp(1.0, static_cast<int>(8 * format.bytes) - (has_sign ? 1 : 0)) - 1;
  const double clamped =
      std::isnan(value) ? 0 : std::clamp(static_cast<double>(value), has_sign ? -1.0 : 0.0, 1.0);
  return static_cast<UINT>(static_cast<INT>(std::nearbyint(clamped * limit)));
}

}  // namespace

Descriptor make_view(const BufferMemory& buffer, const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc) {
  if (desc == nullptr || desc->ViewDimension != D3D12_UAV_DIMENSION_BUFFER) {
    refuse("a view of a buffer has a desc of D3D12_UAV_DIMENSION_BUFFER");
  }
  if (desc->Buffer.CounterOffsetInBytes != 0) {
    refuse("there are no counters: CounterOffsetInBytes is 0");
  }
  const UINT bytes = element_bytes(*desc);
  const auto end = checked_add(desc->Buffer.FirstElement, UINT64{desc->Buffer.NumElements});
  if (!end || *end > buffer.bytes / bytes) {
    refuse("the elements of the view end after the buffer");
  }
  const bool typed = find_format(desc->Format) != nullptr;
  return {buffer.data,
          desc->Buffer.FirstElement,
          desc->Buffer.NumElements,
          bytes,
          typed ? desc->Format : DXGI_FORMAT_UNKNOWN,
          0};
}

std::vector<std::byte> element_of(const Descriptor& view, const UINT* values) {
  std::vector<std::byte> element;
  const Format* format = find_format(view.format);
  if (format == nullptr) {
    for (UINT i = 0; i < view.stride; i += 4) {
      append_low(element, values[0], 4);
    }
    return element;
  }
  for (UINT i = 0; i < format->channels; ++i) {
    append_low(element, values[i], format->bytes);
  }
  return element;
}

std::vector<std::byte> element_of(const Descriptor& view, const FLOAT* values) {
  const Format* format = find_format(view.format);
  if (format == nullptr || format->kind == Channel::kInteger) {
    refuse("the view has no format of floats or normalized integers");
  }
  std::vector<std::byte> element;
  for (UINT i = 0; i < format->channels; ++i) {
    if (format->kind != Channel::kFloat) {
      append_low(element, normalized(*format, values[i]), format->bytes);
    } else if (format->bytes == 4) {
      append(element, bit_cast<uint32_t>(values[i]));
    } else {
      append(element, to_float_bits(kFormatF16, values[i]));
    }
  }
  return element;
}

void fill_elements(const BufferMemory& buffer, const std::vector<std::byte>& element, UINT64 first,
                   UINT64 count) {
  const size_t width = element.size(), bytes = static_cast<size_t>(count) * width;
  const size_t start = static_cast<size_t>(first) * width;
  if (bytes == 0) {
    return;
  }
  const bool uniform = std::all_of(element.begin(), element.end(),
                                   [&](std::byte byte) { return byte == element[0]; });
  std::byte* to = buffer.data + start;
  if (buffer.on_device != nullptr && uniform) {
    buffer.on_device->fill(element[0], bytes, static_cast<size_t>(buffer.start) + start);
  } else if (buffer.on_device != nullptr) {  // one element goes there, and is repeated there
    DeviceMemory one(buffer.device, width);
    one.upload(element.data(), width);
    const auto row = static_cast<int64_t>(width), rows = static_cast<int64_t>(count);
    const void* source[] = {one.data()};
    void* target[] = {to};
    moves::tile("ClearUnorderedAccessView", TensorSpec(u8, {1, row}), TensorSpec(u8, {rows, row}),
                {rows, 1})(source, target, {.device = buffer.device});
  } else if (uniform) {
    std::memset(to, static_cast<int>(element[0]), bytes);
  } else {
    std::memcpy(to, element.data(), width);
    for (size_t done = width; done < bytes;) {  // each step doubles what is there
      const size_t step = std::min(done, bytes - done);
      std::memcpy(to + done, to, step);
      done += step;
    }
  }
}

}  // namespace sheaf::d3d12

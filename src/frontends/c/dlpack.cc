// SPDX-License-Identifier: MIT
#include "frontends/c/dlpack.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "execution/registry.h"
#include "sheaf/error.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

struct Words {
  Reason reason;
  std::string what, detail, shape, next;
};

[[noreturn]] void refuse(const DlpackArgument& argument, const Words& words) {
  throw Error(Refusal{.cause = {words.reason, argument.name},
                      .who = std::string(argument.call),
                      .what = words.what,
                      .detail = cat(argument.name, ": ", words.detail),
                      .given = cat(argument.name, " ", words.shape),
                      .next = words.next});
}

// DLPack's type codes, by number. Where `bits` is 0 they are part of a type's name.
struct Code {
  std::string_view name;
  int bits;
};
constexpr Code kCodes[] = {
    {"int", 0},
    {"uint", 0},
    {"float", 0},
    {"handle", 0},
    {"bfloat", 0},
    {"complex", 0},
    {"bool", 8},
    {"float8_e3m4", 8},
    {"float8_e4m3", 8},
    {"float8_e4m3b11fnuz", 8},
    {"float8_e4m3fn", 8},
    {"float8_e4m3fnuz", 8},
    {"float8_e5m2", 8},
    {"float8_e5m2fnuz", 8},
    {"float8_e8m0fnu", 8},
    {"float6_e2m3fn", 6},
    {"float6_e3m2fn", 6},
    {"float4_e2m1fn", 4},
};

// The types of one lane that are more than bytes to us.
struct Known {
  DLDataTypeCode code;
  DType type;
};
constexpr Known kKnown[] = {
    {kDLInt, i8},
    {kDLInt, i16},
    {kDLInt, i32},
    {kDLInt, i64},
    {kDLUInt, u8},
    {kDLUInt, u16},
    {kDLUInt, u32},
    {kDLUInt, u64},
    {kDLFloat, f16},
    {kDLFloat, f32},
    {kDLFloat, f64},
    {kDLBfloat, bf16},
    {kDLComplex, c64},
    {kDLComplex, c128},
    {kDLBool, boolean},
    {kDLFloat8_e4m3fn, f8e4m3},
    {kDLFloat8_e5m2, f8e5m2},
};

std::optional<DType> known_type(DLDataType type) {
  for (const Known& known : kKnown) {
    if (known.code == type.code && known.type.bytes() * 8 == type.bits) {
      return known.type;
    }
  }
  const bool other_float8 = type.code >= kDLFloat8_e3m4 && type.code <= kDLFloat8_e8m0fnu;
  if (type.code == kDLComplex && type.bits == 32) {
    return opaque(4);  // complex numbers of two f16: moved, not computed with
  }
  return other_float8 && type.bits == 8 ? std::optional(opaque(1)) : std::nullopt;
}

bool rank_is_valid(const DLTensor& tensor) { return tensor.ndim >= 0 && tensor.ndim <= kMaxRank; }

Dims sizes_of(const DLTensor& tensor) {
  return Dims(std::span<const int64_t>(tensor.shape, static_cast<size_t>(tensor.ndim)));
}

// As much of a tensor as can be read without trust in it.
std::string describe(const DLTensor& tensor) {
  const std::string type = to_string(tensor.dtype);
  const bool readable = rank_is_valid(tensor) && (tensor.ndim == 0 || tensor.shape != nullptr);
  return readable ? type + bracketed(sizes_of(tensor)) : cat(type, ", ndim ", tensor.ndim);
}

// The contiguous strides, or zeros where the sizes are negative or too large for any: make_plan
// refuses such sizes before it looks at strides.
Dims strides_without_gaps(const Dims& sizes) {
  Dims strides(sizes.size(), 0);
  int64_t next = 1;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    strides[d] = next;
    const auto product = checked_mul(next, std::max<int64_t>(1, sizes[d]));
    if (sizes[d] < 0 || !product) {
      return Dims(sizes.size(), 0);
    }
    next = *product;
  }
  return strides;
}

bool is_host(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
}

void check_host(const DLTensor& tensor, const DlpackArgument& argument) {
  const DLDeviceType device = tensor.device.device_type;
  if (!is_host(tensor.device)) {
    refuse(argument, {.reason = Reason::kMemory,
                      .what = "tensor is not in host memory",
                      .detail = cat("DLPack device type ", static_cast<int32_t>(device),
                                    ", but 1 (kDLCPU) or 3 (kDLCUDAHost) is needed"),
                      .shape = describe(tensor),
                      .next = "a copy in host memory"});
  }
}

void* first_element(const DLTensor& tensor, const DlpackArgument& argument) {
  if (tensor.data == nullptr) {
    return nullptr;  // whatever the offset: a plan refuses it unless there are no elements
  }
  uintptr_t address = 0;
  if (tensor.byte_offset > uint64_t{PTRDIFF_MAX} ||
      __builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data), tensor.byte_offset,
                             &address)) {
    refuse(argument,
           {.reason = Reason::kMemory,
            .what = "byte_offset out of range",
            .detail = cat("byte_offset = ", tensor.byte_offset, " leaves the address space"),
            .shape = describe(tensor),
            .next = "an offset inside the tensor's memory"});
  }
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

std::string to_string(DLDataType type) {
  const Code code = type.code < std::size(kCodes) ? kCodes[type.code] : Code{"unknown", 0};
  std::string text(code.name);
  if (code.bits == 0) {
    text += std::to_string(type.bits);
  } else if (code.bits != type.bits) {
    text += cat(" of ", int{type.bits}, " bits");
  }
  return type.lanes == 1 ? text : cat(text, " x", type.lanes);
}

DType dtype_from_dlpack(DLDataType type, const DlpackArgument& argument) {
  if (type.code >= std::size(kCodes) || type.code == kDLOpaqueHandle) {
    const char* const why = type.code == kDLOpaqueHandle
                                ? " is a handle, which only its owner knows how to copy"
                                : " is unknown";
    refuse(argument, {.reason = Reason::kType,
                      .what = "unsupported element type",
                      .detail = cat("DLPack type code ", int{type.code}, why),
                      .shape = to_string(type),
                      .next = "a numeric type"});
  }
  if (type.lanes == 1) {
    if (const auto known = known_type(type)) {
      return *known;
    }
  }
  const int bits = int{type.bits} * int{type.lanes};
  if (type.lanes > 1 && bits > 0 && bits % 8 == 0 && bits / 8 <= kMaxElementBytes) {
    return opaque(bits / 8);
  }
  refuse(argument, {.reason = Reason::kType,
                    .what = "unsupported element type",
                    .detail = cat("elements of ", int{type.lanes}, " x ", int{type.bits},
                                  " bits of DLPack type code ", int{type.code}),
                    .shape = to_string(type),
                    .next = cat("bool, int8..64, uint8..64, float8..64, bfloat16, complex64 or "
                                "128, or lanes of 1..",
                                kMaxElementBytes, " whole bytes together")});
}

DLDataType dtype_to_dlpack(DType type) {
  for (const Known& known : kKnown) {
    if (known.type == type) {
      return {.code = static_cast<uint8_t>(known.code),
              .bits = static_cast<uint8_t>(type.bytes() * 8),
              .lanes = 1};
    }
  }
  return {.code = kDLUInt, .bits = 8, .lanes = static_cast<uint16_t>(type.bytes())};
}

TensorSpec spec_from_dlpack(const DLTensor& tensor, const DlpackArgument& argument) {
  if (!rank_is_valid(tensor)) {
    refuse(argument, {.reason = Reason::kRank,
                      .what = "rank out of range",
                      .detail = cat("ndim = ", tensor.ndim, ", but 0..", kMaxRank, " is supported"),
                      .shape = describe(tensor),
                      .next = "merging dimensions that are adjacent in memory"});
  }
  if (tensor.shape == nullptr && tensor.ndim > 0) {
    refuse(argument, {.reason = Reason::kNull,
                      .what = "null shape",
                      .detail = cat("ndim = ", tensor.ndim, ", but shape is null"),
                      .shape = describe(tensor),
                      .next = "a shape with one size for each dimension"});
  }
  const DType type = dtype_from_dlpack(tensor.dtype, argument);
  const Dims sizes = sizes_of(tensor);
  Dims strides = strides_without_gaps(sizes);
  for (int d = 0; tensor.strides != nullptr && d < sizes.size(); ++d) {
    strides[d] = sizes[d] > 1 ? tensor.strides[d] : strides[d];
  }
  return {type, sizes, strides};
}

Tensor tensor_from_dlpack(const DLTensor& tensor, const DlpackArgument& argument) {
  check_host(tensor, argument);
  return {first_element(tensor, argument), spec_from_dlpack(tensor, argument)};
}

std::string_view device_from_dlpack(DLDevice device, const DlpackArgument& argument,
                                    const std::string& shape) {
  if (is_host(device)) {
    return {};
  }
  const Backend* const backend = device_of_dlpack(device.device_type);
  if (backend == nullptr) {
    refuse(argument, {.reason = Reason::kMemory,
                      .what = "no such device",
                      .detail = cat("DLPack device type ", static_cast<int32_t>(device.device_type),
                                    ", which this build has no code for"),
                      .shape = shape,
                      .next = "memory of the host; sheaf doctor lists the devices"});
  }
  backend->device->prepare(nullptr);
  if (const int current = backend->device->current(); current != device.device_id) {
    refuse(argument,
           {.reason = Reason::kMemory,
            .what = "another device",
            .detail = cat("device ", device.device_id, ", but this thread uses device ", current),
            .shape = shape,
            .next = "the call on a thread that uses the tensors' device"});
  }
  return backend->name;
}

void Placement::check(const DLTensor& tensor, const DlpackArgument& argument) {
  const std::string_view device = device_from_dlpack(tensor.device, argument, describe(tensor));
  if (first_.empty()) {
    device_ = device;
    first_ = argument.name;
  } else if (device != device_) {
    const auto name = [](std::string_view place) { return place.empty() ? "the host" : place; };
    refuse(argument, {.reason = Reason::kMemory,
                      .what = "tensors in different places",
                      .detail = cat("in memory of ", name(device), ", but ", first_,
                                    " is in memory of ", name(device_)),
                      .shape = describe(tensor),
                      .next = "all tensors of a call in one place"});
  }
}

Tensor Placement::place(const DLTensor& tensor, const DlpackArgument& argument) {
  check(tensor, argument);
  return {first_element(tensor, argument), spec_from_dlpack(tensor, argument)};
}

const DLTensor& required_tensor(const DLTensor* tensor, const DlpackArgument& argument) {
  if (tensor == nullptr) {
    refuse(argument, {.reason = Reason::kNull,
                      .what = "null tensor",
                      .detail = "the pointer to the DLTensor is null",
                      .shape = "is missing",
                      .next = "a tensor"});
  }
  return *tensor;
}

}  // namespace sheaf

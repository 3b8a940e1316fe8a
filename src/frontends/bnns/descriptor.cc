// SPDX-License-Identifier: MIT
#include "frontends/bnns/descriptor.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "sheaf/error.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::bnns {
namespace {

// How a layout of rank n stores its logical dimension d.
enum class Order {
  kLastMajor,   // size[d], stride[d]
  kFirstMajor,  // size[d], stride[n-1-d]
  kNamed,       // size[n-1-d], stride[n-1-d]: its name says the dimensions slowest first
  kNone,        // not as plain elements
};

struct Layout {
  BNNSDataLayout value;
  const char* name;
  Order order;
  const char* refusal = "";  // for kNone
};

constexpr const char* kRotated = "stores each kernel rotated by half a turn";

constexpr Layout kLayouts[] = {
    {BNNSDataLayoutVector, "Vector", Order::kLastMajor},
    {BNNSDataLayout1DLastMajor, "1DLastMajor", Order::kLastMajor},
    {BNNSDataLayout1DFirstMajor, "1DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayoutRowMajorMatrix, "RowMajorMatrix", Order::kNamed},
    {BNNSDataLayoutColumnMajorMatrix, "ColumnMajorMatrix", Order::kLastMajor},
    {BNNSDataLayoutFullyConnectedSparse, "FullyConnectedSparse", Order::kNone,
     "stores a sparse matrix in a form of its own"},
    {BNNSDataLayout2DLastMajor, "2DLastMajor", Order::kLastMajor},
    {BNNSDataLayout2DFirstMajor, "2DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayoutImageCHW, "ImageCHW", Order::kNamed},
    {BNNSDataLayoutSNE, "SNE", Order::kNamed},
    {BNNSDataLayoutNSE, "NSE", Order::kNamed},
    {BNNSDataLayoutMHA_DHK, "MHA_DHK", Order::kNone,
     "is described by sizes and strides whose orders disagree"},
    {BNNSDataLayout3DLastMajor, "3DLastMajor", Order::kLastMajor},
    {BNNSDataLayout3DFirstMajor, "3DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayoutConvolutionWeightsOIHW, "ConvolutionWeightsOIHW", Order::kNamed},
    {BNNSDataLayoutConvolutionWeightsOIHrWr, "ConvolutionWeightsOIHrWr", Order::kNone, kRotated},
    {BNNSDataLayoutConvolutionWeightsIOHrWr, "ConvolutionWeightsIOHrWr", Order::kNone, kRotated},
    {BNNSDataLayoutConvolutionWeightsOIHW_Pack32, "ConvolutionWeightsOIHW_Pack32", Order::kNone,
     "packs 32 output channels together"},
    {BNNSDataLayout4DLastMajor, "4DLastMajor", Order::kLastMajor},
    {BNNSDataLayout4DFirstMajor, "4DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayout5DLastMajor, "5DLastMajor", Order::kLastMajor},
    {BNNSDataLayout5DFirstMajor, "5DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayout6DLastMajor, "6DLastMajor", Order::kLastMajor},
    {BNNSDataLayout6DFirstMajor, "6DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayout7DLastMajor, "7DLastMajor", Order::kLastMajor},
    {BNNSDataLayout7DFirstMajor, "7DFirstMajor", Order::kFirstMajor},
    {BNNSDataLayout8DLastMajor, "8DLastMajor", Order::kLastMajor},
    {BNNSDataLayout8DFirstMajor, "8DFirstMajor", Order::kFirstMajor},
};

const Layout* find_layout(BNNSDataLayout value) {
  const auto* found = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                   [&](const Layout& layout) { return layout.value == value; });
  return found == std::end(kLayouts) ? nullptr : found;
}

int rank_of(BNNSDataLayout layout) { return static_cast<int>(layout >> 16); }

struct Type {
  BNNSDataType value;
  const char* name;
  std::optional<DType> type = std::nullopt;  // none: elements without whole bytes of their own
};

constexpr Type kTypes[] = {
    {BNNSDataTypeFloat16, "Float16", f16},
    {BNNSDataTypeFloat32, "Float32", f32},
    {BNNSDataTypeBFloat16, "BFloat16", bf16},
    {BNNSDataTypeInt1, "Int1"},
    {BNNSDataTypeInt2, "Int2"},
    {BNNSDataTypeInt4, "Int4"},
    {BNNSDataTypeInt8, "Int8", i8},
    {BNNSDataTypeInt16, "Int16", i16},
    {BNNSDataTypeInt32, "Int32", i32},
    {BNNSDataTypeInt64, "Int64", i64},
    {BNNSDataTypeUInt1, "UInt1"},
    {BNNSDataTypeUInt2, "UInt2"},
    {BNNSDataTypeUInt3, "UInt3"},
    {BNNSDataTypeUInt4, "UInt4"},
    {BNNSDataTypeUInt6, "UInt6"},
    {BNNSDataTypeUInt8, "UInt8", u8},
    {BNNSDataTypeUInt16, "UInt16", u16},
    {BNNSDataTypeUInt32, "UInt32", u32},
    {BNNSDataTypeUInt64, "UInt64", u64},
    {BNNSDataTypeIndexed1, "Indexed1"},
    {BNNSDataTypeIndexed2, "Indexed2"},
    {BNNSDataTypeIndexed4, "Indexed4"},
    {BNNSDataTypeIndexed8, "Indexed8"},
    {BNNSDataTypeBoolean, "Boolean", boolean},
};

const Type* find_type(BNNSDataType value) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const Type& type) { return type.value == value; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string hex(uint32_t value) {
  char digits[8];
  return cat("0x", std::string(digits, std::to_chars(digits, digits + 8, value, 16).ptr));
}

std::string list(const size_t* values, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    text += cat(i == 0 ? "" : ", ", values[i]);
  }
  return text + "]";
}

// "Float32 3DFirstMajor size [3, 2, 2] stride [0, 0, 0]"
std::string describe(const BNNSNDArrayDescriptor* descriptor) {
  if (descriptor == nullptr) {
    return "null";
  }
  const Type* type = find_type(descriptor->data_type);
  const Layout* layout = find_layout(descriptor->layout);
  const std::string type_name = type == nullptr ? "type " + hex(descriptor->data_type) : type->name;
  if (layout == nullptr) {
    return cat(type_name, " layout ", hex(descriptor->layout));
  }
  const int rank = rank_of(layout->value);
  return cat(type_name, " ", layout->name, " size ", list(descriptor->size, rank), " stride ",
             list(descriptor->stride, rank));
}

// Reads one descriptor of a call.
class Reader {
 public:
  Reader(const Call& call, const char* name, const BNNSNDArrayDescriptor* descriptor)
      : call_(call), name_(name), descriptor_(descriptor) {}

  Tensor read() const {
    if (descriptor_ == nullptr) {
      refuse(call_, "null descriptor", cat(name_, " is null"), "a descriptor of the tensor");
    }
    const Layout& layout = read_layout();
    const DType type = read_type();
    const int rank = rank_of(layout.value);
    Dims sizes;
    for (int i = 0; i < rank; ++i) {
      sizes.push_back(number("size", descriptor_->size, i));
    }
    if (layout.order == Order::kFirstMajor) {
      std::reverse(sizes.begin(), sizes.end());
    }
    // From here to the end sizes stand in the order of the strides: fastest dimension first.
    Dims strides = read_strides(sizes);
    if (layout.order != Order::kLastMajor) {
      std::reverse(sizes.begin(), sizes.end());
      std::reverse(strides.begin(), strides.end());
    }
    return {descriptor_->data, TensorSpec(type, sizes, strides)};
  }

 private:
  const Layout& read_layout() const {
    const Layout* layout = find_layout(descriptor_->layout);
    if (layout == nullptr) {
      refuse(call_, "unknown layout",
             cat(name_, ".layout = ", hex(descriptor_->layout), " is no BNNSDataLayout"),
             "one of the constants of sheaf/bnns.h");
    }
    if (layout->order == Order::kNone) {
      refuse(call_, "layout without plain elements",
             cat(name_, ".layout: ", layout->name, " ", layout->refusal),
             cat("a ", rank_of(layout->value), "DFirstMajor or ", rank_of(layout->value),
                 "DLastMajor descriptor of the same memory"));
    }
    return *layout;
  }

  DType read_type() const {
    const Type* type = find_type(descriptor_->data_type);
    if (type == nullptr) {
      refuse(call_, "unknown element type",
             cat(name_, ".data_type = ", hex(descriptor_->data_type), " is no BNNSDataType"),
             "one of the constants of sheaf/bnns.h");
    }
    if (!type->type) {
      refuse(call_, "unsupported element type",
             cat(name_, ".data_type: ", type->name,
                 (type->value & BNNSDataTypeIndexedBit) != 0
                     ? " values stand in a table, which a gather does not look up"
                     : " elements are smaller than a byte"),
             "elements of whole bytes: Float16, Float32, BFloat16, Int8..64, UInt8..64, Boolean");
    }
    return *type->type;
  }

  int64_t number(const char* field, const size_t* values, int i) const {
    if (!std::in_range<int64_t>(values[i])) {
      refuse(call_, cat(field, " too large"),
             cat(name_, ".", field, "[", i, "] = ", values[i], ", but at most 2^63 - 1 is allowed"),
             "check how it was computed");
    }
    return static_cast<int64_t>(values[i]);
  }

  // `sizes` in the order of the strides. A stride of 0 continues without a gap.
  Dims read_strides(const Dims& sizes) const {
    Dims strides;
    for (int k = 0; k < sizes.size(); ++k) {
      int64_t stride = number("stride", descriptor_->stride, k);
      if (stride == 0) {
        stride = k == 0 ? 1 : stride_without_gap(k, sizes[k - 1], strides[k - 1]);
      }
      if (k > 0 && stride < strides[k - 1]) {
        refuse(call_, "strides decrease",
               cat(name_, ".stride[", k, "] = ", stride, ", but stride[", k - 1,
                   "] = ", strides[k - 1]),
               "strides from the fastest dimension to the slowest; in first-major layouts "
               "stride[0] belongs to the last dimension");
      }
      strides.push_back(stride);
    }
    return strides;
  }

  int64_t stride_without_gap(int k, int64_t size, int64_t stride) const {
    const auto product = checked_mul(std::max<int64_t>(1, size), stride);
    if (!product) {
      refuse(call_, "tensor too large",
             cat(name_, ".stride[", k, "] = 0 stands for ", size, " * ", stride,
                 ", which is more than 2^63 - 1"),
             "check how the sizes were computed");
    }
    return *product;
  }

  const Call& call_;
  const char* name_;
  const BNNSNDArrayDescriptor* descriptor_;
};

}  // namespace

void refuse(const Call& call, const std::string& what, const std::string& detail,
            const std::string& next) {
  throw Error(
      ErrorCode::kInvalidArgument,
      cat(call.name, ": ", what, "\n  ", detail, "\n  input ", describe(call.input), "   indices ",
          describe(call.indices), "   output ", describe(call.output), "\n  try: ", next));
}

Tensors read_tensors(const Call& call) {
  return {Reader(call, "input", call.input).read(), Reader(call, "indices", call.indices).read(),
          Reader(call, "output", call.output).read()};
}

}  // namespace sheaf::bnns

size_t BNNSDataLayoutGetRank(BNNSDataLayout layout) {
  const bool known = sheaf::bnns::find_layout(layout) != nullptr;
  return known ? static_cast<size_t>(sheaf::bnns::rank_of(layout)) : SIZE_MAX;
}

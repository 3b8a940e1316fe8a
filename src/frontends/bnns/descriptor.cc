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
  const char* name;
  BNNSDataLayout value;
  Order order;
  const char* refusal = "";  // for kNone
};

constexpr const char* kRotated = "stores each kernel rotated by half a turn";

constexpr Layout kLayouts[] = {
    {"Vector", BNNSDataLayoutVector, Order::kLastMajor},
    {"1DLastMajor", BNNSDataLayout1DLastMajor, Order::kLastMajor},
    {"1DFirstMajor", BNNSDataLayout1DFirstMajor, Order::kFirstMajor},
    {"RowMajorMatrix", BNNSDataLayoutRowMajorMatrix, Order::kNamed},
    {"ColumnMajorMatrix", BNNSDataLayoutColumnMajorMatrix, Order::kLastMajor},
    {"FullyConnectedSparse", BNNSDataLayoutFullyConnectedSparse, Order::kNone,
     "stores a sparse matrix in a form of its own"},
    {"2DLastMajor", BNNSDataLayout2DLastMajor, Order::kLastMajor},
    {"2DFirstMajor", BNNSDataLayout2DFirstMajor, Order::kFirstMajor},
    {"ImageCHW", BNNSDataLayoutImageCHW, Order::kNamed},
    {"SNE", BNNSDataLayoutSNE, Order::kNamed},
    {"NSE", BNNSDataLayoutNSE, Order::kNamed},
    {"MHA_DHK", BNNSDataLayoutMHA_DHK, Order::kNone,
     "is described by sizes and strides whose orders disagree"},
    {"3DLastMajor", BNNSDataLayout3DLastMajor, Order::kLastMajor},
    {"3DFirstMajor", BNNSDataLayout3DFirstMajor, Order::kFirstMajor},
    {"ConvolutionWeightsOIHW", BNNSDataLayoutConvolutionWeightsOIHW, Order::kNamed},
    {"ConvolutionWeightsOIHrWr", BNNSDataLayoutConvolutionWeightsOIHrWr, Order::kNone, kRotated},
    {"ConvolutionWeightsIOHrWr", BNNSDataLayoutConvolutionWeightsIOHrWr, Order::kNone, kRotated},
    {"ConvolutionWeightsOIHW_Pack32", BNNSDataLayoutConvolutionWeightsOIHW_Pack32, Order::kNone,
     "packs 32 output channels together"},
    {"4DLastMajor", BNNSDataLayout4DLastMajor, Order::kLastMajor},
    {"4DFirstMajor", BNNSDataLayout4DFirstMajor, Order::kFirstMajor},
    {"5DLastMajor", BNNSDataLayout5DLastMajor, Order::kLastMajor},
    {"5DFirstMajor", BNNSDataLayout5DFirstMajor, Order::kFirstMajor},
    {"6DLastMajor", BNNSDataLayout6DLastMajor, Order::kLastMajor},
    {"6DFirstMajor", BNNSDataLayout6DFirstMajor, Order::kFirstMajor},
    {"7DLastMajor", BNNSDataLayout7DLastMajor, Order::kLastMajor},
    {"7DFirstMajor", BNNSDataLayout7DFirstMajor, Order::kFirstMajor},
    {"8DLastMajor", BNNSDataLayout8DLastMajor, Order::kLastMajor},
    {"8DFirstMajor", BNNSDataLayout8DFirstMajor, Order::kFirstMajor},
};

const Layout* find_layout(BNNSDataLayout value) {
  const auto* found = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                   [&](const Layout& layout) { return layout.value == value; });
  return found == std::end(kLayouts) ? nullptr : found;
}

int rank_of(BNNSDataLayout layout) { return static_cast<int>(layout >> 16); }

struct Type {
  const char* name;
  BNNSDataType value;
  std::optional<DType> type = std::nullopt;  // none: elements without whole bytes of their own
};

constexpr Type kTypes[] = {
    {"Float16", BNNSDataTypeFloat16, f16},
    {"Float32", BNNSDataTypeFloat32, f32},
    {"BFloat16", BNNSDataTypeBFloat16, bf16},
    {"Int1", BNNSDataTypeInt1},
    {"Int2", BNNSDataTypeInt2},
    {"Int4", BNNSDataTypeInt4},
    {"Int8", BNNSDataTypeInt8, i8},
    {"Int16", BNNSDataTypeInt16, i16},
    {"Int32", BNNSDataTypeInt32, i32},
    {"Int64", BNNSDataTypeInt64, i64},
    {"UInt1", BNNSDataTypeUInt1},
    {"UInt2", BNNSDataTypeUInt2},
    {"UInt3", BNNSDataTypeUInt3},
    {"UInt4", BNNSDataTypeUInt4},
    {"UInt6", BNNSDataTypeUInt6},
    {"UInt8", BNNSDataTypeUInt8, u8},
    {"UInt16", BNNSDataTypeUInt16, u16},
    {"UInt32", BNNSDataTypeUInt32, u32},
    {"UInt64", BNNSDataTypeUInt64, u64},
    {"Indexed1", BNNSDataTypeIndexed1},
    {"Indexed2", BNNSDataTypeIndexed2},
    {"Indexed4", BNNSDataTypeIndexed4},
    {"Indexed8", BNNSDataTypeIndexed8},
    {"Boolean", BNNSDataTypeBoolean, boolean},
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
      refuse(call_, {Reason::kNull}, "null descriptor", cat(name_, " is null"),
             "a descriptor of the tensor");
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
      refuse(call_, {Reason::kOption}, "unknown layout",
             cat(name_, ".layout = ", hex(descriptor_->layout), " is no BNNSDataLayout"),
             "one of the constants of sheaf/bnns.h");
    }
    if (layout->order == Order::kNone) {
      refuse(call_, {Reason::kOption}, "layout without plain elements",
             cat(name_, ".layout: ", layout->name, " ", layout->refusal),
             cat("a ", rank_of(layout->value), "DFirstMajor or ", rank_of(layout->value),
                 "DLastMajor descriptor of the same memory"));
    }
    return *layout;
  }

  DType read_type() const {
    const Type* type = find_type(descriptor_->data_type);
    if (type == nullptr) {
      refuse(call_, {Reason::kType}, "unknown element type",
             cat(name_, ".data_type = ", hex(descriptor_->data_type), " is no BNNSDataType"),
             "one of the constants of sheaf/bnns.h");
    }
    if (!type->type) {
      refuse(call_, {Reason::kType}, "unsupported element type",
             cat(name_, ".data_type: ", type->name,
                 (type->value & BNNSDataTypeIndexedBit) != 0
                     ? " values stand in a table, which is not looked up"
                     : " elements are smaller than a byte"),
             "elements of whole bytes: Float16, Float32, BFloat16, Int8..64, UInt8..64, Boolean");
    }
    return *type->type;
  }

  int64_t number(const char* field, const size_t* values, int i) const {
    if (!std::in_range<int64_t>(values[i])) {
      refuse(call_, {Reason::kTooLarge}, cat(field, " too large"),
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
        refuse(call_, {Reason::kStrides}, "strides decrease",
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
      refuse(call_, {Reason::kTooLarge}, "tensor too large",
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

Refusal refusal_of(const Call& call, const Cause& cause, const std::string& what,
                   const std::string& detail, const std::string& next) {
  std::string given = cat("input ", describe(call.input));
  if (call.has_indices) {
    given += cat("   indices ", describe(call.indices));
  }
  given += cat("   output ", describe(call.output));
  return {.cause = cause,
          .who = call.name,
          .what = what,
          .detail = detail,
          .given = std::move(given),
          .next = next};
}

void refuse(const Call& call, const Cause& cause, const std::string& what,
            const std::string& detail, const std::string& next) {
  throw Error(refusal_of(call, cause, what, detail, next));
}

Tensor read_tensor(const Call& call, const char* name, const BNNSNDArrayDescriptor* descriptor) {
  return Reader(call, name, descriptor).read();
}

Tensors read_tensors(const Call& call) {
  return {read_tensor(call, "input", call.input), read_tensor(call, "indices", call.indices),
          read_tensor(call, "output", call.output)};
}

}  // namespace sheaf::bnns

size_t BNNSDataLayoutGetRank(BNNSDataLayout layout) {
  const bool known = sheaf::bnns::find_layout(layout) != nullptr;
  return known ? static_cast<size_t>(sheaf::bnns::rank_of(layout)) : SIZE_MAX;
}

// SPDX-License-Identifier: MIT
#include "frontends/directml/descriptors.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "frontends/directml/refusal.h"
#include "sheaf/directml.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

constexpr int64_t kMaxElements = (int64_t{1} << 32) - 1;

struct Layout {
  UINT dimension_count;
  const UINT* sizes;
  const UINT* strides;
};

// One more than the position of the last element; nothing if it leaves int64 or a size is 0.
std::optional<int64_t> elements_spanned(const Layout& layout) {
  std::optional<int64_t> spanned = 1;
  for (UINT d = 0; d < layout.dimension_count && spanned; ++d) {
    const int64_t size = layout.sizes[d];
    if (size == 0) {
      return std::nullopt;
    }
    if (layout.strides == nullptr) {
      spanned = checked_mul(*spanned, size);
    } else {
      const auto reach = checked_mul(size - 1, layout.strides[d]);
      spanned = reach ? checked_add(*spanned, *reach) : std::nullopt;
    }
  }
  return spanned;
}

std::optional<int64_t> bytes_spanned(DML_TENSOR_DATA_TYPE type, const Layout& layout) {
  const int bits = bits_of(type);
  if (bits == 0 || layout.dimension_count > DML_TENSOR_DIMENSION_COUNT_MAX1 ||
      (layout.sizes == nullptr && layout.dimension_count > 0)) {
    return std::nullopt;
  }
  const auto elements = elements_spanned(layout);
  if (!elements) {
    return std::nullopt;
  }
  return bits < 8 ? *elements / 2 + *elements % 2 : checked_mul(*elements, bits / 8);
}

// A tensor on its way in: which it is, and what it may be.
struct Candidate {
  const OperatorDesc& op;
  const char* name;
  const DML_TENSOR_DESC* desc;
  const TypeSet& types;
  bool is_output;
};

[[noreturn]] void refuse(const Candidate& c, const Cause& cause, const std::string& what,
                         const std::string& detail, const std::string& next) {
  refuse(c.op, cause, what, cat(c.name, detail), next);
}

const DML_BUFFER_TENSOR_DESC& buffer_desc(const Candidate& c) {
  if (c.desc == nullptr || (c.desc->Type == DML_TENSOR_TYPE_BUFFER && c.desc->Desc == nullptr)) {
    refuse(c, {Reason::kNull}, "null pointer", c.desc == nullptr ? " is null" : ".Desc is null",
           "describe every tensor; none is optional");
  }
  if (c.desc->Type != DML_TENSOR_TYPE_BUFFER) {
    refuse(c, {Reason::kOption}, "not a buffer tensor", cat(".Type = ", int32_t{c.desc->Type}),
           "DML_TENSOR_TYPE_BUFFER (1)");
  }
  return *static_cast<const DML_BUFFER_TENSOR_DESC*>(c.desc->Desc);
}

void check_type(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  if (!c.types.contains(buffer.DataType)) {
    refuse(c, {Reason::kType}, "type not supported",
           cat(" is ", type_name(buffer.DataType), ", but ", level_name(c.op.level), " takes ",
               names_of(c.types)),
           "another type, or a device of a higher level");
  }
}

void check_flags(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  if ((buffer.Flags & ~DML_TENSOR_FLAG_OWNED_BY_DML) != 0) {
    refuse(c, {Reason::kOption}, "unknown flags", cat(".Flags = ", int32_t{buffer.Flags}),
           "DML_TENSOR_FLAG_NONE (0) or DML_TENSOR_FLAG_OWNED_BY_DML (1)");
  }
  if (c.is_output && buffer.Flags != DML_TENSOR_FLAG_NONE) {
    refuse(c, {Reason::kOption}, "output owned by DML",
           ".Flags has DML_TENSOR_FLAG_OWNED_BY_DML, which is for inputs", "DML_TENSOR_FLAG_NONE");
  }
}

void check_dimension_count(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  const TensorSupport& support = *c.op.support;
  if (buffer.DimensionCount < support.min_dimensions ||
      buffer.DimensionCount > support.max_dimensions) {
    const bool one = support.min_dimensions == support.max_dimensions;
    refuse(c, {Reason::kRank}, "dimension count not supported",
           cat(".DimensionCount = ", buffer.DimensionCount, ", but ", level_name(c.op.level),
               " takes ", one ? "" : cat(support.min_dimensions, " to "), support.max_dimensions),
           "leading dimensions of size 1, or none of them; a scalar has Sizes {1}");
  }
}

Dims read_sizes(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  if (buffer.Sizes == nullptr) {
    refuse(c, {Reason::kNull}, "null pointer", ".Sizes is null", "one size for each dimension");
  }
  Dims sizes;
  int64_t elements = 1;
  for (UINT d = 0; d < buffer.DimensionCount; ++d) {
    const int64_t size = buffer.Sizes[d];
    if (size == 0) {
      refuse(c, {Reason::kShape}, "empty tensor", cat(".Sizes[", d, "] = 0"),
             "do not create an operator that has nothing to do");
    }
    if (elements > kMaxElements / size) {
      refuse(c, {Reason::kTooLarge}, "too many elements",
             cat(".Sizes multiply to more than ", kMaxElements), "split the tensor");
    }
    elements *= size;
    sizes.push_back(size);
  }
  return sizes;
}

Dims read_strides(const DML_BUFFER_TENSOR_DESC& buffer, const Dims& sizes) {
  if (buffer.Strides == nullptr) {
    return contiguous_strides(sizes);
  }
  Dims strides;
  for (UINT d = 0; d < buffer.DimensionCount; ++d) {
    strides.push_back(buffer.Strides[d]);
  }
  return strides;
}

// The bytes up to the end of the last element.
UINT64 check_bytes(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  const UINT64 required =
      buffer_tensor_size(buffer.DataType, buffer.DimensionCount, buffer.Sizes, buffer.Strides);
  if (required == 0) {
    refuse(c, {Reason::kTooLarge}, "tensor too large", ".Strides reach further than 2^63 - 1 bytes",
           "check the strides; they are in elements, not in bytes");
  }
  if (buffer.TotalTensorSizeInBytes < required) {
    refuse(c, {Reason::kMemory}, "TotalTensorSizeInBytes too small",
           cat(".TotalTensorSizeInBytes = ", buffer.TotalTensorSizeInBytes,
               ", but its sizes and strides need ", required),
           "the result of DMLCalcBufferTensorSize, or more");
  }
  return static_cast<UINT64>(
      *bytes_spanned(buffer.DataType, {buffer.DimensionCount, buffer.Sizes, buffer.Strides}));
}

void check_alignment(const Candidate& c, const DML_BUFFER_TENSOR_DESC& buffer) {
  const UINT alignment = buffer.GuaranteedBaseOffsetAlignment;
  const UINT element_bytes = static_cast<UINT>(bits_of(buffer.DataType) / 8);
  if (alignment != 0 && (!std::has_single_bit(alignment) || alignment < element_bytes)) {
    refuse(c, {Reason::kMemory}, "bad alignment",
           cat(".GuaranteedBaseOffsetAlignment = ", alignment,
               ", but it is 0 or a power of two of at least ", element_bytes),
           "0, if nothing is guaranteed");
  }
}

TensorDesc read_tensor(const Candidate& c) {
  const DML_BUFFER_TENSOR_DESC& buffer = buffer_desc(c);
  check_type(c, buffer);
  check_flags(c, buffer);
  check_dimension_count(c, buffer);
  const Dims sizes = read_sizes(c, buffer);
  const UINT64 required_bytes = check_bytes(c, buffer);
  check_alignment(c, buffer);
  return {.name = c.name,
          .type = buffer.DataType,
          .spec = {element_type(buffer.DataType), sizes, read_strides(buffer, sizes)},
          .total_bytes = buffer.TotalTensorSizeInBytes,
          .required_bytes = required_bytes,
          .alignment =
              std::max(buffer.GuaranteedBaseOffsetAlignment, DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT),
          .owned = (buffer.Flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0};
}

void check_together(const OperatorDesc& op, const Tensors& tensors) {
  const TensorDesc& input = tensors.input;
  for (const TensorDesc* tensor : {&tensors.indices, &tensors.updates, &tensors.output}) {
    if (tensor == &tensors.updates && !is_scatter(op.info->op)) {
      continue;
    }
    if (tensor->spec.rank() != input.spec.rank()) {
      refuse(op, {Reason::kRank}, "dimension counts differ",
             cat(tensor->name, ".DimensionCount = ", tensor->spec.rank(),
                 ", but that of InputTensor is ", input.spec.rank()),
             "pad the shorter ones with leading dimensions of size 1");
    }
    if (tensor != &tensors.indices && tensor->type != input.type) {
      refuse(op, {Reason::kType}, "types differ",
             cat(tensor->name, " is ", type_name(tensor->type), ", but InputTensor is ",
                 type_name(input.type)),
             "the same type; nothing is converted");
    }
  }
}

}  // namespace

UINT64 buffer_tensor_size(DML_TENSOR_DATA_TYPE type, UINT dimension_count, const UINT* sizes,
                          const UINT* strides) noexcept {
  const auto bytes = bytes_spanned(type, {dimension_count, sizes, strides});
  const auto padded = bytes ? checked_add(*bytes, 3) : std::nullopt;
  return padded ? static_cast<UINT64>(*padded) / 4 * 4 : 0;
}

TensorDesc read_tensor(const OperatorDesc& op, const char* name, const DML_TENSOR_DESC* desc,
                       const TypeSet& types, bool is_output) {
  return read_tensor({op, name, desc, types, is_output});
}

Tensors read_tensors(const OperatorDesc& op) {
  const TensorSupport& support = *op.support;
  Tensors tensors;
  tensors.input = read_tensor({op, "InputTensor", op.input, support.data, false});
  tensors.indices = read_tensor({op, "IndicesTensor", op.indices, support.indices, false});
  if (is_scatter(op.info->op)) {
    tensors.updates = read_tensor({op, "UpdatesTensor", op.updates, support.data, false});
  }
  tensors.output = read_tensor({op, "OutputTensor", op.output, support.data, true});
  check_together(op, tensors);
  return tensors;
}

}  // namespace sheaf::dml::detail

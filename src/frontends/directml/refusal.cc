// SPDX-License-Identifier: MIT
#include "frontends/directml/refusal.h"

#include <exception>
#include <new>
#include <utility>

#include "frontends/directml/descriptors.h"
#include "support/error_text.h"
#include "support/text.h"

namespace sheaf::dml {
namespace {

// One text per thread, so that threads which share a device do not read each other's.
thread_local ErrorText last_error;

HRESULT result_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kIndexOutOfRange: return E_INVALIDARG;
    case ErrorCode::kUnsupported: return DXGI_ERROR_UNSUPPORTED;
    case ErrorCode::kOutOfMemory: return E_OUTOFMEMORY;
    case ErrorCode::kDevice:
    case ErrorCode::kFile:  // no device and no file is ever asked
    case ErrorCode::kCancelled: break;
  }
  return E_FAIL;
}

HRESULT keep(const char* text, HRESULT result) noexcept {
  last_error.keep(text);
  return result;
}

}  // namespace

const char* LastErrorText() noexcept { return last_error.text; }

namespace detail {
namespace {

std::string describe_operator(const OperatorDesc& op) {
  const std::string updates =
      is_scatter(op.info->op) ? cat("   UpdatesTensor ", describe(op.updates)) : "";
  const std::string tensors =
      cat("InputTensor ", describe(op.input), "   IndicesTensor ", describe(op.indices), updates,
          "   OutputTensor ", describe(op.output));
  switch (op.info->type) {
    case DML_OPERATOR_GATHER:
      return cat(tensors, "   Axis ", op.axis, "   IndexDimensions ", op.index_dimensions);
    case DML_OPERATOR_GATHER_ELEMENTS:
    case DML_OPERATOR_SCATTER_ELEMENTS: return cat(tensors, "   Axis ", op.axis);
    default: break;
  }
  const std::string counts = cat("   InputDimensionCount ", op.input_dimension_count,
                                 "   IndicesDimensionCount ", op.indices_dimension_count);
  return cat(tensors, counts,
             op.info->type == DML_OPERATOR_GATHER_ND1
                 ? cat("   BatchDimensionCount ", op.batch_dimension_count)
                 : "");
}

}  // namespace

std::string braced(const Dims& dims) {
  std::string text = bracketed(dims);
  text.front() = '{';
  text.back() = '}';
  return text;
}

std::string describe(const DML_TENSOR_DESC* tensor) {
  if (tensor == nullptr || tensor->Desc == nullptr) {
    return "null";
  }
  if (tensor->Type != DML_TENSOR_TYPE_BUFFER) {
    return cat("of Type ", int32_t{tensor->Type});
  }
  const auto& buffer = *static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc);
  const std::string type = type_name(buffer.DataType);
  if (buffer.Sizes == nullptr || buffer.DimensionCount > DML_TENSOR_DIMENSION_COUNT_MAX1) {
    return cat(type, " of ", buffer.DimensionCount, " dimensions");
  }
  Dims sizes, strides;
  for (UINT d = 0; d < buffer.DimensionCount; ++d) {
    sizes.push_back(buffer.Sizes[d]);
    if (buffer.Strides != nullptr) {
      strides.push_back(buffer.Strides[d]);
    }
  }
  return cat(type, " ", braced(sizes), strides.empty() ? "" : " strides " + braced(strides));
}

void refuse(Refusal refusal) { throw Error(std::move(refusal)); }

void refuse(const OperatorDesc& op, const Cause& cause, const std::string& what,
            const std::string& detail, const std::string& next) {
  throw Error(Refusal{.cause = cause,
                      .who = op.info->name,
                      .what = what,
                      .detail = detail,
                      .given = op.given.empty() ? describe_operator(op) : op.given,
                      .next = next});
}

void forget_last_error() noexcept { last_error.clear(); }

HRESULT result_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(error.what(), result_of(error.code()));
  } catch (const std::bad_alloc&) {
    return keep("out of memory", E_OUTOFMEMORY);
  } catch (const std::exception& error) {
    return keep(error.what(), E_FAIL);
  } catch (...) {
    return keep("unknown failure", E_FAIL);
  }
}

}  // namespace detail
}  // namespace sheaf::dml

// SPDX-License-Identifier: MIT
#include "descriptor_reader.h"

#include "support/float_bits.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

using dml::detail::level_name;
using dml::detail::TensorDesc;

// The structs of directml.h and of sheaf/directml.h have one layout; src/frontends/directml knows
// the latter. layout.cc holds them to it.
const dml::DML_TENSOR_DESC* ours(const DML_TENSOR_DESC* desc) {
  return reinterpret_cast<const dml::DML_TENSOR_DESC*>(desc);
}

}  // namespace

Slot slot_of(const TensorDesc& tensor, std::string name) {
  Slot slot;
  slot.name = std::move(name);
  slot.total_bytes = tensor.total_bytes;
  slot.required_bytes = tensor.required_bytes;
  slot.alignment = tensor.alignment;
  slot.owned = tensor.owned;
  return slot;
}

Reader::Reader(DML_OPERATOR_TYPE type, const dml::DeviceOptions& options)
    : info_(*find_neighbour(type)) {
  op_.info = &info_;
  op_.level = options.feature_level;
  op_.support = dml::detail::support_at(info_, op_.level);
  if (op_.support == nullptr) {
    dml::detail::refuse(
        {.who = "CreateOperator",
         .what = "feature level too low",
         .detail = cat(info_.name, " needs ", level_name(info_.support.back().since)),
         .given = cat("device of ", level_name(op_.level)),
         .next = "a device of a higher level"});
  }
}

void Reader::refuse(const std::string& what, const std::string& detail,
                    const std::string& next) const {
  dml::detail::refuse(op_, {}, what, detail, next);
}

void Reader::check_pointer(const void* pointer, const char* name) const {
  if (pointer == nullptr) {
    refuse("null pointer", cat(name, " is null"), "one entry for each dimension");
  }
}

void Reader::check_count(const char* name, UINT count, const TensorSpec& spec) const {
  if (count != static_cast<UINT>(spec.rank())) {
    refuse("dimension counts differ",
           cat(name, " = ", count, ", but the tensors have ", spec.rank(), " dimensions"),
           cat(name, " = ", spec.rank()));
  }
}

void Reader::check_axis(UINT axis, const TensorSpec& spec) const {
  if (axis >= static_cast<UINT>(spec.rank())) {
    refuse("Axis out of range",
           cat("Axis = ", axis, ", but only 0 to ", spec.rank() - 1, " is possible"),
           cat("Axis from 0 to ", spec.rank() - 1));
  }
}

void Reader::check_same_rank(const TensorSpec& a, const TensorSpec& b) const {
  if (a.rank() != b.rank()) {
    refuse("dimension counts differ",
           cat("the tensors have ", a.rank(), " and ", b.rank(), " dimensions"),
           "pad the shorter one with leading dimensions of size 1");
  }
}

void Reader::check_same_type(const TensorSpec& a, const TensorSpec& b) const {
  if (a.dtype != b.dtype) {
    refuse("types differ", cat("the tensors are ", a.dtype.name(), " and ", b.dtype.name()),
           "the same type; only DML_OPERATOR_CAST converts");
  }
}

const TensorSpec& Reader::read(const std::string& name, const DML_TENSOR_DESC* desc,
                               const dml::detail::TypeSet& types, bool is_output) {
  op_.given += cat(op_.given.empty() ? "" : "   ", name, " ", dml::detail::describe(ours(desc)));
  const TensorDesc tensor =
      dml::detail::read_tensor(op_, name.c_str(), ours(desc), types, is_output);
  (is_output ? outputs_ : inputs_).push_back(slot_of(tensor, name));
  specs_.push_back(std::make_unique<TensorSpec>(tensor.spec));
  return *specs_.back();
}

Scalar Reader::scalar(DML_TENSOR_DATA_TYPE type, const DML_SCALAR_UNION& value,
                      const TensorSpec& output) const {
  const auto known = static_cast<dml::DML_TENSOR_DATA_TYPE>(type);
  if (!op_.support->data.contains(known) || dml::detail::element_type(known) != output.dtype) {
    refuse("types differ",
           cat("the value is ", dml::detail::type_name(known), ", but OutputTensor is ",
               output.dtype.name()),
           "a value of the output's type");
  }
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64: return value.Float64;
    case DML_TENSOR_DATA_TYPE_FLOAT32: return static_cast<double>(value.Float32);
    case DML_TENSOR_DATA_TYPE_FLOAT16: return from_float_bits(kFormatF16, value.UInt16);
    case DML_TENSOR_DATA_TYPE_INT64: return value.Int64;
    case DML_TENSOR_DATA_TYPE_INT32: return value.Int32;
    case DML_TENSOR_DATA_TYPE_INT16: return value.Int16;
    case DML_TENSOR_DATA_TYPE_INT8: return value.Int8;
    case DML_TENSOR_DATA_TYPE_UINT64: return value.UInt64;
    case DML_TENSOR_DATA_TYPE_UINT32: return value.UInt32;
    case DML_TENSOR_DATA_TYPE_UINT16: return value.UInt16;
    default: return value.UInt8;
  }
}

std::shared_ptr<const Program> Reader::program(moves::Work work, Sharing sharing) {
  return std::make_shared<const SingleOperator>(info_.name, std::move(inputs_), std::move(outputs_),
                                                std::move(work), sharing);
}

}  // namespace sheaf::dml_com

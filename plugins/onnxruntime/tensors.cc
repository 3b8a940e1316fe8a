// SPDX-License-Identifier: MIT
#include "tensors.h"

#include <cstring>

#include "support/text.h"

namespace sheaf::ort {

std::optional<DType> dtype_of_element(ElementType type) {
  switch (type) {
    case kFloat: return f32;
    case kUint8: return u8;
    case kInt8: return i8;
    case kUint16: return u16;
    case kInt16: return i16;
    case kInt32: return i32;
    case kInt64: return i64;
    case kBool: return boolean;
    case kFloat16: return f16;
    case kDouble: return f64;
    case kUint32: return u32;
    case kUint64: return u64;
    case kComplex64: return c64;
    case kComplex128: return c128;
    case kBfloat16: return bf16;
    case kUndefined:
    case kString:
    case kUint4:
    case kInt4: break;
  }
  return std::nullopt;
}

TensorSpec Input::spec() const {
  const std::optional<DType> dtype = dtype_of_element(type);
  if (!dtype.has_value()) {
    throw Failure(kNotImplemented, cat("Sheaf: no plan for element type ", static_cast<int>(type)));
  }
  return {*dtype, sizes};
}

int64_t NodeInfo::number(const char* attribute, int64_t otherwise) const {
  int64_t value = 0;
  return api_.try_call(kKernelInfoGetInt, info_, attribute, &value) ? value : otherwise;
}

std::string NodeInfo::text(const char* attribute, const char* otherwise) const {
  size_t size = 0;  // with the 0 at the end
  if (!api_.try_call(kKernelInfoGetString, info_, attribute, nullptr, &size) || size == 0) {
    return otherwise;
  }
  std::string text(size, '\0');
  api_.check(kKernelInfoGetString, info_, attribute, text.data(), &size);
  text.resize(size - 1);
  return text;
}

std::optional<std::vector<int64_t>> NodeInfo::numbers(const char* attribute) const {
  size_t count = 0;
  if (!api_.try_call(kKernelInfoGetInts, info_, attribute, nullptr, &count)) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers(count);
  api_.check(kKernelInfoGetInts, info_, attribute, numbers.data(), &count);
  return numbers;
}

bool NodeInfo::is_constant(size_t input) const {
  int constant = 0;
  const Value* value = nullptr;
  return api_.try_call(kKernelInfoGetConstantInput, info_, input, &constant, &value) &&
         constant != 0;
}

std::string NodeInfo::output_name() const {
  size_t size = 0;
  api_.check(kKernelInfoGetOutputName, info_, 0, nullptr, &size);
  std::string name(size, '\0');
  api_.check(kKernelInfoGetOutputName, info_, 0, name.data(), &size);
  name.resize(std::strlen(name.c_str()));
  return name;
}

std::optional<Input> Context::optional_input(size_t index) const {
  size_t count = 0;
  api_.check(kKernelContextGetInputCount, context_, &count);
  const Value* value = nullptr;
  if (index < count) {
    api_.check(kKernelContextGetInput, context_, index, &value);
  }
  if (value == nullptr) {
    return std::nullopt;
  }
  Input input;
  input.value = value;
  const int64_t* sizes = nullptr;
  size_t rank = 0;
  api_.check(kGetTypeAndShape, value, &input.type, &sizes, &rank);
  input.sizes = Dims(std::span<const int64_t>(sizes, rank));
  api_.check(kGetTensorData, value, &input.data);
  return input;
}

Input Context::input(size_t index) const {
  const std::optional<Input> input = optional_input(index);
  if (!input.has_value()) {
    throw Failure(kInvalidArgumentError,
                  cat("Sheaf: input ", static_cast<int64_t>(index), " of the node is missing"));
  }
  return *input;
}

Value* Context::output_value(const Dims& sizes) const {
  Value* value = nullptr;
  api_.check(kKernelContextGetOutput, context_, 0, sizes.begin(), static_cast<size_t>(sizes.size()),
             &value);
  return value;
}

void* Context::output(const Dims& sizes) const {
  void* data = nullptr;
  api_.check(kGetTensorMutableData, output_value(sizes), &data);
  return data;
}

namespace {

NodeAttribute read_attribute(const Api& api, const Attribute* attribute) {
  NodeAttribute read;
  const char* name = nullptr;
  api.check(kAttributeGetName, attribute, &name);
  api.check(kAttributeGetType, attribute, &read.type);
  read.name = name;
  size_t size = 0;
  if (read.type == kIntAttribute) {
    int64_t number = 0;
    api.check(kReadAttribute, attribute, kIntAttribute, &number, sizeof number, &size);
    read.number = number;
  } else if (read.type == kStringAttribute) {
    // The first call fails and says how long the text is.
    if (!api.try_call(kReadAttribute, attribute, kStringAttribute, nullptr, 0, &size)) {
      std::string text(size, '\0');
      api.check(kReadAttribute, attribute, kStringAttribute, text.data(), size, &size);
      read.text = text.substr(0, text.find('\0'));
    } else {
      read.text = "";
    }
  }
  return read;
}

NodeValue read_value(const Api& api, const ValueInfo* value) {
  NodeValue read;
  if (value == nullptr) {
    return read;
  }
  const char* name = nullptr;
  api.check(kGetValueInfoName, value, &name);
  read.name = name;
  const TypeInfo* type = nullptr;
  if (!api.try_call(kGetValueInfoTypeInfo, value, &type) || type == nullptr) {
    return read;
  }
  const TensorInfo* tensor = nullptr;
  api.check(kCastTypeInfoToTensorInfo, type, &tensor);
  if (tensor == nullptr) {
    return read;  // a sequence or a map
  }
  api.check(kGetTensorElementType, tensor, &read.type);
  size_t rank = 0;
  api.check(kGetDimensionsCount, tensor, &rank);
  if (rank <= static_cast<size_t>(kMaxRank)) {
    Dims sizes(static_cast<int>(rank), 0);
    api.check(kGetDimensions, tensor, sizes.begin(), rank);
    read.sizes = sizes;
  }
  return read;
}

std::vector<NodeValue> read_values(const Api& api, const Node* node, NumValues number_of,
                                   GetValues get) {
  size_t count = 0;
  api.check(number_of, node, &count);
  std::vector<const ValueInfo*> values(count);
  api.check(get, node, values.data(), count);
  std::vector<NodeValue> read;
  read.reserve(count);
  for (const ValueInfo* value : values) {
    read.push_back(read_value(api, value));
  }
  return read;
}

}  // namespace

int64_t OfferedNode::number(const std::string& attribute, int64_t otherwise) const {
  for (const NodeAttribute& given : attributes) {
    if (given.name == attribute) {
      return given.number.value_or(otherwise);
    }
  }
  return otherwise;
}

std::string OfferedNode::text(const std::string& attribute, const char* otherwise) const {
  for (const NodeAttribute& given : attributes) {
    if (given.name == attribute) {
      return given.text.value_or(otherwise);
    }
  }
  return otherwise;
}

OfferedNode describe(const Api& api, const Node* node) {
  OfferedNode offered;
  const char* text = nullptr;
  api.check(kNodeGetOperatorType, node, &text);
  offered.op = text;
  api.check(kNodeGetDomain, node, &text);
  offered.domain = text;
  size_t count = 0;
  api.check(kNodeGetNumAttributes, node, &count);
  std::vector<const Attribute*> attributes(count);
  api.check(kNodeGetAttributes, node, attributes.data(), count);
  for (const Attribute* attribute : attributes) {
    offered.attributes.push_back(read_attribute(api, attribute));
  }
  offered.inputs = read_values(api, node, kNodeGetNumInputs, kNodeGetInputs);
  offered.outputs = read_values(api, node, kNodeGetNumOutputs, kNodeGetOutputs);
  offered.captured = read_values(api, node, kNodeGetNumImplicitInputs, kNodeGetImplicitInputs);
  return offered;
}

}  // namespace sheaf::ort

// SPDX-License-Identifier: MIT
#include "plugins/onnxruntime/small_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sheaf::ort {

struct TypeInfo;  // is a TensorInfo here
struct KernelDef {
  std::string op, domain;
  int version = 0;
  bool writes_into_data = false;
};
struct KernelDefBuilder : KernelDef {};
struct KernelRegistry {};
struct EpDevice {};

namespace small {
namespace {

int calls_left = -1;
bool failed = false;
int objects = 0;

template <class T>
T* made(T* object) {
  ++objects;
  return object;
}

Status* make_status(ErrorNumber number, const char* text) {
  auto* const status = static_cast<Status*>(std::calloc(1, sizeof(Status)));
  status->number = number;
  std::strncpy(status->text, text, sizeof status->text - 1);
  return made(status);
}

void release_status(Status* status) {
  --objects;
  std::free(status);
}

// A failure, if this call is the one.
Status* fails() {
  if (calls_left < 0 || calls_left-- > 0) {
    return nullptr;
  }
  failed = true;
  return make_status(kFail, "the runtime failed");
}

// Tables by position, with null where the provider has no business.
void* main_table[512];
void* provider_table[64];

template <class Function>
void set(Main<Function> slot, Function* function) {
  main_table[slot.position] = reinterpret_cast<void*>(function);
}
template <class Function>
void set(Provider<Function> slot, Function* function) {
  provider_table[slot.position] = reinterpret_cast<void*>(function);
}

// What a call writes to is written only if it does not fail.
template <class T>
Status* give(T* to, const T& value) {
  Status* const status = fails();
  if (status == nullptr) {
    *to = value;
  }
  return status;
}

const Attribute* find(const KernelInfo* info, const char* name) {
  for (const Attribute& attribute : info->attributes) {
    if (attribute.name == name) {
      return &attribute;
    }
  }
  return nullptr;
}

// As the runtime does: without memory, or with too little, only the size.
Status* give_text(const std::string& text, char* to, size_t* size, bool too_small_fails) {
  if (Status* const status = fails(); status != nullptr) {
    *size = 0;
    return status;
  }
  const size_t needed = text.size() + 1;
  const bool fits = to != nullptr && *size >= needed;
  *size = needed;
  if (fits) {
    std::memcpy(to, text.c_str(), needed);
  } else if (too_small_fails || to != nullptr) {
    return make_status(kInvalidArgumentError, "too small");
  }
  return nullptr;
}

template <class Item>
Status* give_all(const std::vector<Item>& items, const Item** to, size_t count) {
  Status* const status = fails();
  for (size_t i = 0; status == nullptr && i < count; ++i) {
    to[i] = &items[i];
  }
  return status;
}

void set_values() {
  set(
      kCreateStatus,
      +[](ErrorNumber number, const char* text) { return make_status(number, text); });
  set(
      kGetErrorCode, +[](const Status* status) { return status->number; });
  set(
      kGetErrorMessage,
      +[](const Status* status) { return static_cast<const char*>(status->text); });
  set(
      kReleaseStatus, +[](Status* status) { release_status(status); });
  set(
      kCastTypeInfoToTensorInfo, +[](const TypeInfo* type, const TensorInfo** tensor) {
        return give(tensor, reinterpret_cast<const TensorInfo*>(type));
      });
  set(
      kGetTensorElementType,
      +[](const TensorInfo* tensor, ElementType* type) { return give(type, tensor->type); });
  set(
      kGetDimensionsCount,
      +[](const TensorInfo* tensor, size_t* count) { return give(count, tensor->sizes.size()); });
  set(
      kGetDimensions, +[](const TensorInfo* tensor, int64_t* sizes, size_t count) {
        Status* const status = fails();
        if (status == nullptr) {
          std::copy_n(tensor->sizes.begin(), count, sizes);
        }
        return status;
      });
  set(
      kGetTypeAndShape,
      +[](const Value* value, ElementType* type, const int64_t** sizes, size_t* rank) {
        *sizes = value->sizes.data();
        *rank = value->sizes.size();
        return give(type, value->type);
      });
  set(
      kGetTensorData, +[](const Value* value, const void** data) {
        return give(data, static_cast<const void*>(value->bytes.data()));
      });
  set(
      kGetTensorMutableData, +[](Value* value, void** data) {
        return give(data, static_cast<void*>(value->bytes.data()));
      });
}

void set_strings() {
  set(
      kGetStringLength, +[](const Value* value, size_t element, size_t* length) {
        return give(length, value->strings[element].size());
      });
  set(
      kGetString, +[](const Value* value, size_t length, size_t element, void* to) {
        std::memcpy(to, value->strings[element].data(), length);
        return fails();
      });
  set(
      kResizeString, +[](Value* value, size_t element, size_t length, char** room) {
        value->strings[element].resize(length);
        return give(room, value->strings[element].data());
      });
}

void set_kernels() {
  set(
      kKernelInfoGetInt, +[](const KernelInfo* info, const char* name, int64_t* number) {
        const Attribute* const found = find(info, name);
        return found == nullptr ? make_status(kFail, "no such attribute")
                                : give(number, found->number);
      });
  set(
      kKernelInfoGetString,
      +[](const KernelInfo* info, const char* name, char* text, size_t* size) {
        const Attribute* const found = find(info, name);
        return found == nullptr ? make_status(kFail, "no such attribute")
                                : give_text(found->text, text, size, false);
      });
  set(
      kKernelInfoGetInts,
      +[](const KernelInfo* info, const char* name, int64_t* numbers, size_t* count) {
        const Attribute* const found = find(info, name);
        if (found == nullptr) {
          return make_status(kFail, "no such attribute");
        }
        if (numbers != nullptr) {
          std::copy(found->numbers.begin(), found->numbers.end(), numbers);
        }
        return give(count, found->numbers.size());
      });
  set(
      kKernelInfoGetOutputName, +[](const KernelInfo* info, size_t, char* name, size_t* size) {
        return give_text(info->output, name, size, false);
      });
  set(
      kKernelInfoGetConstantInput,
      +[](const KernelInfo* info, size_t input, int* constant, const Value** value) {
        *value = nullptr;
        const auto& all = info->constant;
        return give(constant, std::count(all.begin(), all.end(), input) > 0 ? 1 : 0);
      });
  set(
      kKernelContextGetInputCount,
      +[](const KernelContext* node, size_t* count) { return give(count, node->inputs.size()); });
  set(
      kKernelContextGetInput, +[](const KernelContext* node, size_t input, const Value** value) {
        return give(value, node->inputs[input]);
      });
  set(
      kKernelContextGetOutput,
      +[](KernelContext* node, size_t, const int64_t* sizes, size_t rank, Value** value) {
        if (node->in_place) {
          return give(value, const_cast<Value*>(node->inputs[0]));
        }
        Value& output = node->output;
        output.type = node->inputs[0]->type;
        output.sizes.assign(sizes, sizes + rank);
        size_t bytes = 8;  // also enough where scales are wider than data
        for (const int64_t size : output.sizes) {
          bytes *= static_cast<size_t>(size);
        }
        output.bytes.assign(bytes, std::byte{0xEE});
        output.strings.resize(output.type == kString ? bytes / 8 : 0);
        return give(value, &output);
      });
  set(
      kKernelContextParallelFor, +[](const KernelContext* node, void (*run)(void*, size_t),
                                     size_t total, size_t, void* argument) {
        Status* const status = fails();
        ++const_cast<KernelContext*>(node)->parallel_calls;
        for (size_t i = 0; status == nullptr && i < total; ++i) {
          run(argument, i);
        }
        return status;
      });
}

void set_graphs() {
  set(
      kGetValueInfoName, +[](const ValueInfo* value, const char** name) {
        return give(name, static_cast<const char*>(value->name.c_str()));
      });
  set(
      kGetValueInfoTypeInfo, +[](const ValueInfo* value, const TypeInfo** type) {
        return give(type, reinterpret_cast<const TypeInfo*>(&value->tensor));
      });
  set(
      kGraphGetNumOutputs,
      +[](const Graph* graph, size_t* count) { return give(count, graph->outputs.size()); });
  set(
      kGraphGetOutputs, +[](const Graph* graph, const ValueInfo** outputs, size_t count) {
        return give_all(graph->outputs, outputs, count);
      });
  set(
      kGraphGetNumNodes,
      +[](const Graph* graph, size_t* count) { return give(count, graph->nodes.size()); });
  set(
      kGraphGetNodes, +[](const Graph* graph, const Node** nodes, size_t count) {
        return give_all(graph->nodes, nodes, count);
      });
  set(
      kNodeGetOperatorType, +[](const Node* node, const char** op) {
        return give(op, static_cast<const char*>(node->op.c_str()));
      });
  set(
      kNodeGetDomain, +[](const Node* node, const char** domain) {
        return give(domain, static_cast<const char*>(node->domain.c_str()));
      });
  set(
      kNodeGetNumInputs,
      +[](const Node* node, size_t* count) { return give(count, node->inputs.size()); });
  set(
      kNodeGetInputs, +[](const Node* node, const ValueInfo** inputs, size_t count) {
        return give_all(node->inputs, inputs, count);
      });
  set(
      kNodeGetNumOutputs,
      +[](const Node* node, size_t* count) { return give(count, node->outputs.size()); });
  set(
      kNodeGetOutputs, +[](const Node* node, const ValueInfo** outputs, size_t count) {
        return give_all(node->outputs, outputs, count);
      });
  set(
      kNodeGetNumImplicitInputs,
      +[](const Node* node, size_t* count) { return give(count, node->captured.size()); });
  set(
      kNodeGetImplicitInputs, +[](const Node* node, const ValueInfo** captured, size_t count) {
        return give_all(node->captured, captured, count);
      });
  set(
      kNodeGetNumAttributes,
      +[](const Node* node, size_t* count) { return give(count, node->attributes.size()); });
  set(
      kNodeGetAttributes, +[](const Node* node, const Attribute** attributes, size_t count) {
        return give_all(node->attributes, attributes, count);
      });
  set(
      kAttributeGetType,
      +[](const Attribute* attribute, AttributeType* type) { return give(type, attribute->type); });
  set(
      kAttributeGetName, +[](const Attribute* attribute, const char** name) {
        return give(name, static_cast<const char*>(attribute->name.c_str()));
      });
  set(
      kReadAttribute,
      +[](const Attribute* attribute, AttributeType type, void* to, size_t room, size_t* size) {
        if (type == kIntAttribute) {
          return give(static_cast<int64_t*>(to), attribute->number);
        }
        *size = room;
        return give_text(attribute->text, static_cast<char*>(to), size, true);
      });
}

void set_provider() {
  set(
      kHardwareDeviceType, +[](const HardwareDevice*) { return kCpuDevice; });
  set(
      kGetEpApi, +[]() -> const void* { return provider_table; });
  set(
      kCreateEpDevice,
      +[](EpFactory*, const HardwareDevice*, const KeyValuePairs*, const KeyValuePairs*,
          EpDevice** device) { return give(device, static_cast<EpDevice*>(nullptr)); });
  set(
      kAddSingleNode, +[](GraphSupport* support, const Node* node) {
        Status* const status = fails();
        if (status == nullptr) {
          support->taken.push_back(node);
        }
        return status;
      });
  set(
      kLookUpKernel, +[](GraphSupport*, const Node*, const KernelDef** definition) {
        static const KernelDef some;
        return give(definition, &some);
      });
  set(
      kCreateKernelRegistry, +[](KernelRegistry** registry) {
        Status* const status = fails();
        *registry = status == nullptr ? made(new KernelRegistry) : nullptr;
        return status;
      });
  set(
      kReleaseKernelRegistry, +[](KernelRegistry* registry) {
        --objects;
        delete registry;
      });
  set(
      kCreateKernelDefBuilder, +[](KernelDefBuilder** builder) {
        Status* const status = fails();
        *builder = status == nullptr ? made(new KernelDefBuilder) : nullptr;
        return status;
      });
  set(
      kReleaseKernelDefBuilder, +[](KernelDefBuilder* builder) {
        --objects;
        delete builder;
      });
  set(
      kSetOperatorType, +[](KernelDefBuilder* builder, const char* op) {
        return give(&builder->op, std::string(op));
      });
  set(
      kSetDomain, +[](KernelDefBuilder* builder, const char* domain) {
        return give(&builder->domain, std::string(domain));
      });
  set(
      kSetSinceVersion,
      +[](KernelDefBuilder* builder, int first, int) { return give(&builder->version, first); });
  set(
      kSetExecutionProvider, +[](KernelDefBuilder*, const char*) { return fails(); });
  set(
      kAddTypeConstraint,
      +[](KernelDefBuilder*, const char*, const DataType* const*, size_t) { return fails(); });
  set(
      kAddMutableAliases, +[](KernelDefBuilder* builder, const int*, const int*, size_t) {
        return give(&builder->writes_into_data, true);
      });
  set(
      kBuildKernelDef, +[](KernelDefBuilder* builder, KernelDef** definition) {
        Status* const status = fails();
        *definition = status == nullptr ? made(new KernelDef(*builder)) : nullptr;
        return status;
      });
  set(
      kReleaseKernelDef, +[](KernelDef* definition) {
        --objects;
        delete definition;
      });
  set(
      kGetTensorDataType, +[](ElementType type, const DataType** data_type) {
        if (type == kComplex64 || type == kComplex128) {
          return make_status(kFail, "no such tensors");
        }
        return give(data_type, reinterpret_cast<const DataType*>(&kApiVersion));
      });
  set(
      kAddKernel,
      +[](KernelRegistry*, const KernelDef* definition, CreateKernel create, void* state) {
        Status* const status = fails();
        if (status == nullptr) {
          kernels()[definition->domain + "/" + definition->op + "/" +
                    std::to_string(definition->version)] = {create, state,
                                                            definition->writes_into_data};
        }
        return status;
      });
}

const char* told_version = "1.31.1";
uint32_t told_api = 31;

const void* get_api(uint32_t version) { return version <= told_api ? main_table : nullptr; }
const char* version_string() { return told_version; }

}  // namespace

const ApiBase& runtime_of(const char* version, uint32_t newest_api) {
  static const ApiBase base{get_api, version_string};
  if (main_table[0] == nullptr) {
    set_values();
    set_strings();
    set_kernels();
    set_graphs();
    set_provider();
  }
  told_version = version;
  told_api = newest_api;
  return base;
}

const ApiBase& runtime() { return runtime_of("1.31.1", 31); }

void fail_call(int call) {
  calls_left = call;
  failed = false;
}

bool has_failed() { return failed; }

int alive() { return objects; }

std::string text_and_release(Status* status) {
  if (status == nullptr) {
    return "";
  }
  std::string text = status->text;
  release_status(status);
  return text;
}

std::map<std::string, Registered>& kernels() {
  static std::map<std::string, Registered> all;
  return all;
}

}  // namespace small
}  // namespace sheaf::ort

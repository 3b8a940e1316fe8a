// SPDX-License-Identifier: MIT
//
// As much of ONNX Runtime as the provider sees of it: tables of functions over plain structs. Any
// of its calls can be made to fail, and it counts what was not released.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugins/onnxruntime/interface.h"

extern "C" {
sheaf::ort::Status* CreateEpFactories(const char* registration_name,
                                      const sheaf::ort::ApiBase* base,
                                      const sheaf::ort::Logger* logger,
                                      sheaf::ort::EpFactory** factories, size_t most,
                                      size_t* count) noexcept;
sheaf::ort::Status* ReleaseEpFactory(sheaf::ort::EpFactory* factory) noexcept;
}

namespace sheaf::ort {

// The runtime's objects, as this one has them.
struct Status {  // made without operator new: also where that fails
  ErrorNumber number;
  char text[1000];
};
struct Attribute {
  std::string name;
  AttributeType type;
  int64_t number = 0;
  std::string text = {};
  std::vector<int64_t> numbers = {};
};
struct TensorInfo {
  ElementType type;
  std::vector<int64_t> sizes;
};
struct ValueInfo {
  std::string name;
  TensorInfo tensor;
};
struct Node {
  std::string op, domain;
  std::vector<Attribute> attributes = {};
  std::vector<ValueInfo> inputs = {};
  std::vector<ValueInfo> outputs = {};
  std::vector<ValueInfo> captured = {};
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<ValueInfo> outputs = {};
};
struct GraphSupport {
  std::vector<const Node*> taken;
};
struct Value {
  ElementType type = kFloat;
  std::vector<int64_t> sizes = {};
  std::vector<std::byte> bytes = {};
  std::vector<std::string> strings = {};
};
struct KernelInfo {
  std::vector<Attribute> attributes = {};
  std::vector<size_t> constant = {};  // inputs that are initializers
  std::string output = "out";
};
struct KernelContext {
  std::vector<const Value*> inputs;
  Value output = {};
  bool in_place = false;  // the output is the first input's memory
  int parallel_calls = 0;
};

namespace small {

const ApiBase& runtime();
const ApiBase& runtime_of(const char* version, uint32_t newest_api);

// Call number `call` from now on fails; a negative one: none does.
void fail_call(int call);
bool has_failed();
// Statuses, builders, definitions, registries and devices that are alive.
int alive();
std::string text_and_release(Status* status);  // "" for null

// The kernels that were registered, by "domain/operator/version".
struct Registered {
  CreateKernel create;
  void* state;
  bool writes_into_data;
};
std::map<std::string, Registered>& kernels();

}  // namespace small
}  // namespace sheaf::ort

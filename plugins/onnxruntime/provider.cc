// SPDX-License-Identifier: MIT
#include "provider.h"

#include <memory>

#include "chosen_nodes.h"

namespace sheaf::ort {
namespace {

// Owns an object of the runtime until it is let go.
template <class Object>
class Held {
 public:
  Held(const Api& api, Slot<ProviderTable, void(Object*)> release) : api_(api), release_(release) {}
  ~Held() {
    if (object_ != nullptr) {
      api_(release_, object_);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Object** out() { return &object_; }
  Object* get() const { return object_; }

 private:
  const Api& api_;
  Slot<ProviderTable, void(Object*)> release_;
  Object* object_ = nullptr;
};

void add_constraint(const Api& api, KernelDefBuilder* builder, const Constraint& constraint) {
  std::vector<const DataType*> types;
  for (const ElementType element : constraint.types) {
    const DataType* type = nullptr;
    // The runtime does not have tensors of every type of ONNX.
    if (api.try_call(kGetTensorDataType, element, &type) && type != nullptr) {
      types.push_back(type);
    }
  }
  api.check(kAddTypeConstraint, builder, constraint.name, types.data(), types.size());
}

void add_kernel(const Api& api, KernelRegistry* registry, const Operator& op, int version,
                CreateKernel create, void* state) {
  Held<KernelDefBuilder> builder(api, kReleaseKernelDefBuilder);
  api.check(kCreateKernelDefBuilder, builder.out());
  api.check(kSetOperatorType, builder.get(), op.name);
  api.check(kSetDomain, builder.get(), op.domain);
  api.check(kSetSinceVersion, builder.get(), version, version);
  api.check(kSetExecutionProvider, builder.get(), kProviderName);
  for (const Constraint& constraint : op.constraints) {
    add_constraint(api, builder.get(), constraint);
  }
  if (op.writes_into_data) {
    const int first = 0;
    api.check(kAddMutableAliases, builder.get(), &first, &first, 1);
  }
  Held<KernelDef> definition(api, kReleaseKernelDef);
  api.check(kBuildKernelDef, builder.get(), definition.out());
  api.check(kAddKernel, registry, definition.get(), create, state);
}

}  // namespace

struct SheafEp::Registration {
  SheafEp* ep;
  const Operator* op;

  static Status* create(void* state, const KernelInfo* info, KernelImpl** kernel) noexcept {
    const auto& [ep, op] = *static_cast<const Registration*>(state);
    return guarded(ep->api_, [&, ep = ep, op = op] {
      const NodeInfo node(ep->api_, info);
      const bool seen = ep->outputs_.contains(node.output_name());
      *kernel = op->make({.node = node, .caller_sees_output = seen}).release();
    });
  }
};

SheafEp::SheafEp(const Api& api) : api_(api) {
  get_name = [](const Ep*) noexcept { return kProviderName; };
  get_capability = [](Ep* ep, const Graph* graph, GraphSupport* support) noexcept {
    auto& self = *static_cast<SheafEp*>(ep);
    return guarded(self.api_, [&] { self.take_nodes(graph, support); });
  };
  get_kernel_registry = [](Ep* ep, const KernelRegistry** registry) noexcept -> Status* {
    auto& self = *static_cast<SheafEp*>(ep);
    return guarded(self.api_, [&] {
      self.register_kernels();
      *registry = self.registry_;
    });
  };
  is_concurrent_run_supported = [](Ep*, bool* supported) noexcept -> Status* {
    *supported = true;
    return nullptr;
  };
}

SheafEp::~SheafEp() {
  if (registry_ != nullptr) {
    api_(kReleaseKernelRegistry, registry_);
  }
}

void SheafEp::register_kernels() {
  if (registry_ != nullptr) {
    return;
  }
  // All of them before the first is handed out: the runtime keeps their addresses.
  for (const Operator& op : operators()) {
    registrations_.push_back({this, &op});
  }
  Held<KernelRegistry> registry(api_, kReleaseKernelRegistry);
  api_.check(kCreateKernelRegistry, registry.out());
  for (Registration& registration : registrations_) {
    for (const int since : registration.op->versions) {
      add_kernel(api_, registry.get(), *registration.op, since, &Registration::create,
                 &registration);
    }
  }
  std::swap(registry_, *registry.out());
}

void SheafEp::take_nodes(const Graph* graph, GraphSupport* support) {
  size_t count = 0;
  api_.check(kGraphGetNumOutputs, graph, &count);
  std::vector<const ValueInfo*> outputs(count);
  api_.check(kGraphGetOutputs, graph, outputs.data(), count);
  std::unordered_set<std::string> graph_outputs;
  for (const ValueInfo* output : outputs) {
    const char* name = nullptr;
    api_.check(kGetValueInfoName, output, &name);
    graph_outputs.insert(name);
  }
  outputs_.insert(graph_outputs.begin(), graph_outputs.end());
  api_.check(kGraphGetNumNodes, graph, &count);
  std::vector<const Node*> nodes(count);
  api_.check(kGraphGetNodes, graph, nodes.data(), count);
  std::vector<GraphNode> offered;
  offered.reserve(count);
  for (const Node* node : nodes) {
    const KernelDef* kernel = nullptr;
    api_.check(kLookUpKernel, support, node, &kernel);
    offered.push_back({describe(api_, node), nullptr});
    offered.back().op = kernel != nullptr ? operator_for(offered.back().node) : nullptr;
  }
  const std::vector<bool> taken = chosen_nodes(offered, graph_outputs);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (taken[n]) {
      api_.check(kAddSingleNode, support, nodes[n]);
    }
  }
}

}  // namespace sheaf::ort

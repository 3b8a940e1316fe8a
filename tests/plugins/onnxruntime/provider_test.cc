// SPDX-License-Identifier: MIT
//
// The provider in a runtime of a few hundred lines: what it registers, which nodes it takes, what
// its kernels compute; and that no failure, of a call or of an allocation, is lost or leaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "faults/failing_allocator.h"
#include "plugins/onnxruntime/small_runtime.h"

namespace sheaf::ort {
namespace {

using small::text_and_release;
using testing::ElementsAre;
using testing::HasSubstr;

Attribute number(const char* name, int64_t value) { return {name, kIntAttribute, value}; }
Attribute text(const char* name, const char* value) { return {name, kStringAttribute, 0, value}; }
ValueInfo input(ElementType type, std::vector<int64_t> sizes) {
  return {"", {type, std::move(sizes)}};
}

template <class T>
Value tensor(ElementType type, std::vector<int64_t> sizes, const std::vector<T>& values) {
  Value value{type, std::move(sizes), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) {
    std::memcpy(value.bytes.data(), values.data(), value.bytes.size());
  }
  return value;
}

template <class T>
std::vector<T> values_of(const Value& value) {
  size_t count = 1;
  for (const int64_t size : value.sizes) {
    count *= static_cast<size_t>(size);
  }
  std::vector<T> values(count);
  std::memcpy(values.data(), value.bytes.data(), count * sizeof(T));
  return values;
}

// A loaded library with a session's provider.
class Loaded {
 public:
  Loaded() {
    size_t count = 0;
    EXPECT_EQ(text_and_release(
                  CreateEpFactories("sheaf", &small::runtime(), nullptr, &factory_, 1, &count)),
              "");
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(text_and_release(
                  factory_->create_ep(factory_, nullptr, nullptr, 0, nullptr, nullptr, &ep_)),
              "");
  }
  ~Loaded() {
    factory_->release_ep(factory_, ep_);
    EXPECT_EQ(ReleaseEpFactory(factory_), nullptr);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  EpFactory& factory() const { return *factory_; }
  Ep& ep() const { return *ep_; }

  void register_kernels() const {
    const KernelRegistry* registry = nullptr;
    EXPECT_EQ(text_and_release(ep_->get_kernel_registry(ep_, &registry)), "");
    EXPECT_NE(registry, nullptr);
  }

  // The text of the status with which the kernel is not made.
  std::string make(const char* name, const KernelInfo& info, KernelImpl** kernel) const {
    const small::Registered& registered = small::kernels().at(name);
    return text_and_release(registered.create(registered.state, &info, kernel));
  }

 private:
  EpFactory* factory_ = nullptr;
  Ep* ep_ = nullptr;
};

class OrtProvider : public testing::Test {
 protected:
  void TearDown() override {
    small::fail_call(-1);
    faults::allow_allocations(-1);
    small::kernels().clear();
    EXPECT_EQ(small::alive(), 0);
  }
};

TEST_F(OrtProvider, RefusesRuntimesThatItWasNotWrittenFor) {
  const auto refusal = [](const char* version, uint32_t newest_api) {
    EpFactory* factory = nullptr;
    size_t count = 7;
    Status* const status = CreateEpFactories("sheaf", &small::runtime_of(version, newest_api),
                                             nullptr, &factory, 1, &count);
    EXPECT_EQ(count, 0U);
    return text_and_release(status);
  };
  EXPECT_EQ(refusal("1.23.2", 23),
            "Sheaf's execution provider needs ONNX Runtime 1.24 or a later 1.x\n"
            "  this is ONNX Runtime 1.23.2\n"
            "  try: pip install 'onnxruntime>=1.24,<2'");
  EXPECT_THAT(refusal("2.0.0", 40), HasSubstr("this is ONNX Runtime 2.0.0"));
  EXPECT_THAT(refusal("nightly", 40), HasSubstr("this is ONNX Runtime nightly"));
  EXPECT_EQ(refusal("0.1", 0), "");  // no table, not even for a status
}

TEST_F(OrtProvider, RegistersEveryVersionOfItsOperators) {
  const Loaded loaded;
  loaded.register_kernels();
  std::vector<std::string> names;
  for (const auto& [name, kernel] : small::kernels()) {
    names.push_back(name + (kernel.writes_into_data ? " in place" : ""));
  }
  EXPECT_THAT(names, ElementsAre("/Gather/1", "/Gather/11", "/Gather/13", "/GatherElements/11",
                                 "/GatherElements/13", "/GatherND/11", "/GatherND/12",
                                 "/GatherND/13", "/OneHot/11", "/OneHot/9", "/Scatter/9 in place",
                                 "/ScatterElements/11 in place", "/ScatterElements/13 in place",
                                 "/ScatterElements/16 in place", "/ScatterElements/18 in place",
                                 "/ScatterND/11 in place", "/ScatterND/13 in place",
                                 "/ScatterND/16 in place", "/ScatterND/18 in place", "/Slice/1",
                                 "/Slice/10", "/Slice/11", "/Slice/13",
                                 "com.microsoft/GatherBlockQuantized/1"));
  EXPECT_STREQ(loaded.factory().get_name(&loaded.factory()), "SheafExecutionProvider");
  EXPECT_STREQ(loaded.ep().get_name(&loaded.ep()), "SheafExecutionProvider");
}

std::vector<const Node*> taken(const Graph& graph) {
  const Loaded loaded;
  GraphSupport support;
  EXPECT_EQ(text_and_release(loaded.ep().get_capability(&loaded.ep(), &graph, &support)), "");
  return support.taken;
}

bool takes(Node node) { return taken({{std::move(node)}}).size() == 1; }

TEST_F(OrtProvider, TakesWhatItKnows) {
  const std::vector<ValueInfo> floats = {input(kFloat, {4}), input(kInt64, {2})};
  EXPECT_TRUE(takes({"Gather", "", {}, floats}));
  EXPECT_TRUE(takes({"Gather", "", {number("axis", -1)}, floats}));
  EXPECT_FALSE(takes({"Gather", "", {number("mode", 1)}, floats}));     // an attribute of tomorrow
  EXPECT_FALSE(takes({"Gather", "", {text("axis", "last")}, floats}));  // of another type
  EXPECT_FALSE(takes({"Gather", "com.example", {}, floats}));
  EXPECT_FALSE(takes({"Relu", "", {}, floats}));
  EXPECT_TRUE(takes({"ScatterND", "", {text("reduction", "add")}, floats}));
  EXPECT_FALSE(takes({"ScatterND", "", {text("reduction", "median")}, floats}));
  EXPECT_TRUE(takes({"ScatterND", "", {}, {input(kString, {4})}}));
  EXPECT_FALSE(takes({"ScatterND", "", {text("reduction", "add")}, {input(kString, {4})}}));
  EXPECT_FALSE(takes({"ScatterND", "", {}, {input(kUint4, {4})}}));
  EXPECT_FALSE(takes({"ScatterND", "", {}, {}}));
  const std::vector<ValueInfo> complex = {input(kComplex64, {4})};
  EXPECT_FALSE(takes({"ScatterElements", "", {text("reduction", "max")}, complex}));
}

TEST_F(OrtProvider, TakesBlocksOfRowsThatBeginAtBytes) {
  const auto node = [](ElementType type, std::vector<int64_t> sizes,
                       std::vector<Attribute> attributes, bool zeros = false) {
    std::vector<ValueInfo> inputs = {input(type, sizes), input(kInt64, {2}), input(kFloat, {4, 2})};
    if (zeros) {
      inputs.push_back(input(type, {4, 1}));
    }
    return Node{"GatherBlockQuantized", "com.microsoft", std::move(attributes), inputs};
  };
  EXPECT_TRUE(takes(node(kUint8, {4, 16}, {number("block_size", 16)})));
  EXPECT_TRUE(takes(node(kUint8, {4, -1}, {number("block_size", 16)})));  // bytes: any length
  EXPECT_FALSE(takes(node(kUint8, {4, 16}, {number("block_size", 24)})));
  EXPECT_FALSE(takes(node(kUint8, {4, 16}, {number("bits", 3)})));
  EXPECT_FALSE(takes(node(kUint8, {4, 16}, {number("gather_axis", 1)})));
  EXPECT_FALSE(takes(node(kUint8, {4, 16}, {number("quantize_axis", 0)})));
  EXPECT_TRUE(takes(node(kInt4, {4, 32}, {})));
  EXPECT_FALSE(takes(node(kInt4, {4, 33}, {})));
  EXPECT_FALSE(takes(node(kInt4, {4, -1}, {})));
  EXPECT_FALSE(takes(node(kInt4, {4, 32}, {}, true)));  // zero points of 4 bits, one per row
  EXPECT_FALSE(takes({"GatherBlockQuantized", "com.microsoft", {}, {}}));
}

// A gather, what is between, and another gather.
Graph between_gathers(Node node) {
  node.inputs[0].name = "a";
  node.outputs[0].name = "b";
  return {{{"Gather", "", {}, {input(kFloat, {9})}, {{"a", {kFloat, {9}}}}},
           std::move(node),
           {"Gather", "", {}, {{"b", {kFloat, {9}}}}, {{"c", {kFloat, {9}}}}}}};
}

Node large_slice() {
  return {"Slice", "", {}, {input(kFloat, {4, 256, 512})}, {input(kFloat, {4, 256, 100})}};
}

TEST_F(OrtProvider, TakesNeighboursBetweenItsOwnNodes) {
  EXPECT_EQ(taken(between_gathers(large_slice())).size(), 3U);
  EXPECT_FALSE(takes(large_slice()));
  // Not where others read the values, too.
  Graph graph = between_gathers(large_slice());
  graph.outputs = {{"b", {kFloat, {9}}}};
  EXPECT_EQ(taken(graph).size(), 2U);
  graph = between_gathers(large_slice());
  graph.nodes.push_back({"Relu", "", {}, {{"b", {kFloat, {9}}}}});
  EXPECT_EQ(taken(graph).size(), 2U);
  graph.nodes.back() = {"If", "", {}, {}, {}, {{"b", {kFloat, {9}}}}};  // a graph inside it
  EXPECT_EQ(taken(graph).size(), 2U);
  graph = between_gathers(large_slice());
  graph.nodes[0].op = "Relu";
  EXPECT_EQ(taken(graph).size(), 1U);
  graph = between_gathers(large_slice());
  graph.nodes[2].op = "Relu";
  EXPECT_EQ(taken(graph).size(), 1U);
}

TEST_F(OrtProvider, TakesChainsOfNeighboursWhole) {
  Graph graph = between_gathers(large_slice());
  Node second = large_slice();
  second.inputs[0].name = "b";
  second.outputs[0].name = "c";
  graph.nodes[2].inputs[0].name = "c";
  graph.nodes[2].outputs[0].name = "d";
  graph.nodes.push_back(second);
  EXPECT_EQ(taken(graph).size(), 4U);
  graph.nodes[2].op = "Relu";  // both are at the border then
  EXPECT_EQ(taken(graph).size(), 1U);
}

TEST_F(OrtProvider, LeavesNeighboursThatAreNoFaster) {
  const auto count = [](const Node& node) { return taken(between_gathers(node)).size(); };
  Node node = large_slice();
  node.outputs[0].tensor.sizes = {1, 256, 512};  // whole rows
  EXPECT_EQ(count(node), 2U);
  node.outputs[0].tensor.sizes = {4, 2, 100};  // small
  EXPECT_EQ(count(node), 2U);
  node.outputs[0].tensor.sizes = {4, -1, 100};  // not known
  EXPECT_EQ(count(node), 2U);
  node = large_slice();
  node.inputs[0].tensor.type = kString;
  EXPECT_EQ(count(node), 2U);
  node = large_slice();
  node.attributes = {number("starts", 1)};  // of another type
  EXPECT_EQ(count(node), 2U);
  const std::vector<ValueInfo> inputs = {input(kInt64, {256}), input(kInt64, {}),
                                         input(kFloat, {2})};
  EXPECT_EQ(count({"OneHot", "", {number("axis", 0)}, inputs, {input(kFloat, {16, 256})}}), 3U);
  EXPECT_EQ(count({"OneHot", "", {}, inputs, {input(kFloat, {256, 15})}}), 2U);
  EXPECT_EQ(count({"OneHot", "", {}, inputs, {input(kFloat, {256, -1})}}), 2U);
}

// A made kernel and what it is run on.
struct Call {
  const char* kernel;
  KernelInfo info;
  std::vector<Value> inputs;

  std::string run(const Loaded& loaded, KernelContext& context) const {
    KernelImpl* made = nullptr;
    if (std::string failure = loaded.make(kernel, info, &made); !failure.empty()) {
      return failure;
    }
    context.inputs.clear();
    for (const Value& value : inputs) {
      context.inputs.push_back(&value);
    }
    std::string failure = text_and_release(made->compute(made, &context));
    made->release(made);
    return failure;
  }
};

Value some_data() { return tensor<float>(kFloat, {3, 2}, {0, 1, 10, 11, 20, 21}); }
Value some_indices() { return tensor<int64_t>(kInt64, {2}, {-1, 0}); }
Value some_tuples() { return tensor<int64_t>(kInt64, {1, 1}, {2}); }
Value some_updates() { return tensor<float>(kFloat, {1, 2}, {5, 6}); }

Call gather_call() { return {"/Gather/13", {}, {some_data(), some_indices()}}; }
Call scatter_call() {
  return {
      "/ScatterND/18", {{text("reduction", "add")}}, {some_data(), some_tuples(), some_updates()}};
}
Call quantized_call() {
  const KernelInfo info{{number("block_size", 16), number("bits", 8)}};
  return {"com.microsoft/GatherBlockQuantized/1",
          info,
          {tensor<uint8_t>(kUint8, {1, 2}, {128, 130}), tensor<int64_t>(kInt64, {1}, {0}),
           tensor<float>(kFloat, {1, 1}, {0.5F})}};
}

// From the last row to the first, and the last column.
Call slice_call() {
  return {"/Slice/13",
          {},
          {some_data(), tensor<int64_t>(kInt64, {2}, {-1, 1}),
           tensor<int64_t>(kInt64, {2}, {INT64_MIN, INT64_MAX}),
           tensor<int32_t>(kInt32, {2}, {0, -1}), tensor<int32_t>(kInt32, {2}, {-1, 1})}};
}

// One index from the end, and one out of range. The runtime here makes outputs of the first
// input's type.
Call one_hot_call() {
  return {"/OneHot/11",
          {{number("axis", 0)}},
          {tensor<int64_t>(kInt64, {2}, {-1, 1}), tensor<float>(kFloat, {1}, {3}),
           tensor<int64_t>(kInt64, {2}, {7, 9})}};
}

Value some_words(std::vector<int64_t> sizes, std::vector<std::string> words) {
  return {kString, std::move(sizes), {}, std::move(words)};
}
const char* const kLongWord = "a word that no string keeps inside itself";

Call word_call() {
  return {"/ScatterND/18",
          {},
          {some_words({2, 2}, {"a", "b", kLongWord, ""}), tensor<int64_t>(kInt64, {1, 1}, {0}),
           some_words({1, 2}, {"c", kLongWord})}};
}

TEST_F(OrtProvider, MovesStrings) {
  const Loaded loaded;
  loaded.register_kernels();
  const Call call = word_call();
  KernelContext context;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(context.output.strings, ElementsAre("c", kLongWord, kLongWord, ""));
  context.in_place = true;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(call.inputs[0].strings, ElementsAre("c", kLongWord, kLongWord, ""));
}

TEST_F(OrtProvider, Gathers) {
  const Loaded loaded;
  loaded.register_kernels();
  for (const bool constant : {false, true}) {
    Call call = gather_call();
    if (constant) {
      call.info.constant = {1};
    }
    KernelContext context;
    EXPECT_EQ(call.run(loaded, context), "");
    EXPECT_THAT(context.output.sizes, ElementsAre(2, 2));
    EXPECT_THAT(values_of<float>(context.output), ElementsAre(20, 21, 0, 1));
  }
}

TEST_F(OrtProvider, ScattersIntoItsOutputOrItsInput) {
  const Loaded loaded;
  loaded.register_kernels();
  const Call call = scatter_call();
  KernelContext context;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(values_of<float>(context.output), ElementsAre(0, 1, 10, 11, 25, 27));
  EXPECT_THAT(values_of<float>(call.inputs[0]), ElementsAre(0, 1, 10, 11, 20, 21));
  context.in_place = true;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(values_of<float>(call.inputs[0]), ElementsAre(0, 1, 10, 11, 25, 27));
}

TEST_F(OrtProvider, DecodesBlocks) {
  const Loaded loaded;
  loaded.register_kernels();
  KernelContext context;
  EXPECT_EQ(quantized_call().run(loaded, context), "");
  EXPECT_THAT(values_of<float>(context.output), ElementsAre(0, 1));
}

TEST_F(OrtProvider, Slices) {
  const Loaded loaded;
  loaded.register_kernels();
  Call call = slice_call();
  KernelContext context;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(context.output.sizes, ElementsAre(3, 1));
  EXPECT_THAT(values_of<float>(context.output), ElementsAre(21, 11, 1));
  call.inputs[4] = tensor<int32_t>(kInt32, {2}, {0, 1});
  EXPECT_EQ(call.run(loaded, context),
            "Slice: axis 0 has a step of 0, or is named twice\n"
            "  try: distinct axes and steps that are not 0");
  call.inputs[3] = tensor<int32_t>(kInt32, {2}, {0, 2});
  call.inputs[4] = tensor<int32_t>(kInt32, {2}, {1, 1});
  EXPECT_EQ(call.run(loaded, context),
            "Slice: axis 2 of a tensor of rank 2\n  try: an axis from -2 to 1");
  call.inputs[3] = tensor<int32_t>(kInt32, {1}, {0});
  EXPECT_EQ(call.run(loaded, context),
            "Slice: its starts, ends, axes and steps differ in length\n  try: equal lengths");
  call.inputs[1] = tensor<int64_t>(kInt64, {1, 1}, {0});
  EXPECT_EQ(call.run(loaded, context),
            "Slice: its starts is i64[1, 1]\n"
            "  try: a list of i32 or i64, at most one number per dimension");
  call.inputs = {some_data()};
  EXPECT_EQ(call.run(loaded, context), "Slice: it has no starts, or no ends");
}

TEST_F(OrtProvider, SlicesByAttributesInOldModels) {
  const Loaded loaded;
  loaded.register_kernels();
  const KernelInfo info{{{"starts", kIntsAttribute, 0, "", {1}},
                         {"ends", kIntsAttribute, 0, "", {1000}},
                         {"axes", kIntsAttribute, 0, "", {1}}}};
  KernelContext context;
  EXPECT_EQ((Call{"/Slice/1", info, {some_data()}}.run(loaded, context)), "");
  EXPECT_THAT(values_of<float>(context.output), ElementsAre(1, 11, 21));
}

TEST_F(OrtProvider, MakesOneHot) {
  const Loaded loaded;
  loaded.register_kernels();
  Call call = one_hot_call();
  KernelContext context;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_THAT(context.output.sizes, ElementsAre(3, 2));
  EXPECT_THAT(values_of<int64_t>(context.output), ElementsAre(7, 7, 7, 9, 9, 7));
  call.inputs[1] = tensor<float>(kFloat, {}, {-1});
  EXPECT_EQ(call.run(loaded, context), "OneHot: its depth is -1\n  try: 1 or more");
  call.inputs[1] = tensor<float>(kFloat, {2}, {1, 2});
  EXPECT_EQ(call.run(loaded, context), "OneHot: its depth is f32[2]\n  try: one number");
  call.inputs[2] = tensor<int64_t>(kInt64, {1}, {7});
  EXPECT_EQ(call.run(loaded, context),
            "OneHot: its values is i64[1]\n  try: two values: off and on");
  call = one_hot_call();
  call.info.attributes = {number("axis", 2)};
  EXPECT_EQ(call.run(loaded, context),
            "OneHot: axis 2 of a tensor of rank 2\n  try: an axis from -2 to 1");
}

TEST_F(OrtProvider, WorksOnTheThreadsOfTheSession) {
  const Loaded loaded;
  loaded.register_kernels();
  const int64_t rows = 1 << 16;
  const Call call{"/Gather/13",
                  {},
                  {tensor(kFloat, {2, 64}, std::vector<float>(128, 3)),
                   tensor(kInt64, {rows}, std::vector<int64_t>(rows, 1))}};
  KernelContext context;
  EXPECT_EQ(call.run(loaded, context), "");
  EXPECT_EQ(values_of<float>(context.output), std::vector<float>(rows * 64, 3));
  KernelContext small_context;
  EXPECT_EQ(gather_call().run(loaded, small_context), "");
  EXPECT_EQ(small_context.parallel_calls, 0);  // small calls never touch the pool
}

TEST_F(OrtProvider, AFailureInAKernelBecomesAStatus) {
  const Loaded loaded;
  loaded.register_kernels();
  KernelContext context;
  Call call = gather_call();
  call.inputs[1] = tensor<int64_t>(kInt64, {2}, {0, 3});
  EXPECT_THAT(call.run(loaded, context), HasSubstr("gather: index out of range\n  indices[1] = 3"));
  call.inputs.pop_back();
  EXPECT_EQ(call.run(loaded, context), "Sheaf: input 1 of the node is missing");
  call = gather_call();
  call.inputs[0].type = kUint4;
  EXPECT_EQ(call.run(loaded, context), "Sheaf: no plan for element type 21");
  call = scatter_call();
  call.info.attributes = {text("reduction", "median")};
  EXPECT_EQ(call.run(loaded, context), "Sheaf: no reduction 'median'");
  call = quantized_call();
  call.info.attributes = {number("block_size", 5)};
  EXPECT_EQ(call.run(loaded, context),
            "GatherBlockQuantized: block_size = 5\n  try: a power of two from 16 on");
  call = quantized_call();
  call.inputs[0] = tensor<uint8_t>(kInt4, {2, 3}, {1, 2, 3});
  call.info.attributes = {number("block_size", 16)};
  EXPECT_EQ(call.run(loaded, context),
            "GatherBlockQuantized: its scales have sizes [1, 1], but [2, 1] are needed\n"
            "  try: a scale for each block");
  call.inputs[2] = tensor<float>(kFloat, {2, 1}, {1, 1});
  EXPECT_EQ(call.run(loaded, context),
            "GatherBlockQuantized: rows of [2, 3] do not begin at whole bytes\n"
            "  try: rows of an even length");
}

// What a session owns, released in its order.
struct Session {
  EpFactory* factory = nullptr;
  Ep* ep = nullptr;
  KernelImpl* kernel = nullptr;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (kernel != nullptr) {
      kernel->release(kernel);
    }
    if (ep != nullptr) {
      factory->release_ep(factory, ep);
    }
    if (factory != nullptr) {
      ReleaseEpFactory(factory);
    }
  }
};

// A whole life: load, register, take nodes, make a kernel, run it. Returns the first failure.
Status* whole_life(const Call& call, const Graph& graph) {
  Session session;
  const HardwareDevice* device = nullptr;
  EpDevice* found = nullptr;
  size_t count = 0;
  const KernelRegistry* registry = nullptr;
  GraphSupport support;
  Status* failure =
      CreateEpFactories("sheaf", &small::runtime(), nullptr, &session.factory, 1, &count);
  EpFactory* const factory = session.factory;
  if (failure == nullptr) {
    failure = factory->get_supported_devices(factory, &device, 1, &found, 1, &count);
  }
  if (failure == nullptr) {
    failure = factory->create_ep(factory, nullptr, nullptr, 0, nullptr, nullptr, &session.ep);
  }
  if (failure == nullptr) {
    failure = session.ep->get_kernel_registry(session.ep, &registry);
  }
  if (failure == nullptr) {
    failure = session.ep->get_capability(session.ep, &graph, &support);
  }
  if (failure == nullptr) {
    const small::Registered& kernel = small::kernels().at(call.kernel);
    failure = kernel.create(kernel.state, &call.info, &session.kernel);
  }
  if (failure == nullptr) {
    KernelContext context;
    for (const Value& value : call.inputs) {
      context.inputs.push_back(&value);
    }
    failure = session.kernel->compute(session.kernel, &context);
  }
  return failure;
}

Graph some_graph() {
  return {{{"Gather", "", {number("axis", 0)}, {input(kFloat, {3})}},
           {"ScatterND", "", {text("reduction", "add")}, {input(kFloat, {3})}}},
          {{"out", {kFloat, {3}}}}};
}

// Thousands of whole lives: too slow under emulation (scripts/cross).
class OrtFaults : public OrtProvider {};

TEST_F(OrtFaults, EveryCallOfTheRuntimeMayFail) {
  const Graph graph = some_graph();
  for (const Call& call : {gather_call(), scatter_call(), quantized_call(), word_call(),
                           slice_call(), one_hot_call()}) {
    int swallowed = 0;
    int failing = 0;
    for (bool failed = true; failed; ++failing) {
      small::fail_call(failing);
      const std::string failure = text_and_release(whole_life(call, graph));
      failed = small::has_failed();
      small::fail_call(-1);
      ASSERT_EQ(small::alive(), 0) << "call " << failing;
      // What may be missing: attributes, types of tensors, whether an input is constant.
      swallowed += failed && failure.empty() ? 1 : 0;
      EXPECT_THAT(failure,
                  testing::AnyOf("", "the runtime failed", "too small", HasSubstr("Quantized")));
      EXPECT_TRUE(failed || failure.empty()) << failure;
    }
    EXPECT_GT(failing, 200);
    EXPECT_LT(swallowed, failing * 3 / 4);
  }
}

TEST_F(OrtFaults, EveryAllocationMayFail) {
  const Graph graph = some_graph();
  for (const Call& call : {gather_call(), scatter_call(), quantized_call(), word_call(),
                           slice_call(), one_hot_call()}) {
    EXPECT_EQ(text_and_release(whole_life(call, graph)), "");
    small::kernels().clear();
    const long before = faults::live_blocks();
    int allowed = 0;
    for (bool failed = true; failed; ++allowed) {
      ASSERT_LT(allowed, 5000);
      faults::allow_allocations(allowed);
      Status* failure = nullptr;
      bool thrown = false;
      try {
        failure = whole_life(call, graph);
      } catch (const std::bad_alloc&) {
        thrown = true;  // by the test's own lines: nothing of the provider's lets it through
      }
      faults::allow_allocations(-1);
      failed = thrown || failure != nullptr;
      EXPECT_THAT(text_and_release(failure), testing::AnyOf("", HasSubstr("memory")));
      small::kernels().clear();
      ASSERT_EQ(small::alive(), 0) << "allocation " << allowed;
      ASSERT_EQ(faults::live_blocks(), before) << "allocation " << allowed;
    }
    EXPECT_GT(allowed, 50);
  }
}

}  // namespace
}  // namespace sheaf::ort

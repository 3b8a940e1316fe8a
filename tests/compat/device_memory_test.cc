// SPDX-License-Identifier: MIT
//
// Default heaps on a simulated device: what is a plan runs there. The tests of the other program
// are in this one too, so that they see such memory.
#include <cstdlib>

#include "compat/fluent.h"
#include "helpers/deferred_device.h"

using namespace compat;

namespace {

// Before the first Direct3D device is made.
const bool kOnDevice = [] {
  add_deferred_device();
  return setenv("SHEAF_D3D12_DEVICE", kDeferred, 1) == 0;
}();

template <class T>
Expression constant(Graph& graph, DML_TENSOR_DATA_TYPE type, Uints sizes, std::vector<T> values) {
  return graph.constant(bytes_of(values), {type, std::move(sizes)});
}

// Bytes that crossed the bus during a run, besides its inputs on the way in and its output on the
// way out.
int64_t crossed(Machine& machine, IDMLCompiledOperator* op, const std::vector<Bytes>& inputs,
                UINT64 output_bytes, Bytes& output) {
  const int64_t before = transferred_bytes();
  output = machine.run(op, inputs, {output_bytes})[0];
  auto total = transferred_bytes() - before - static_cast<int64_t>(output_bytes);
  for (const Bytes& input : inputs) {
    total -= static_cast<int64_t>(input.size());
  }
  return total;
}

TEST(DeviceMemory, PlansRunThere) {
  ASSERT_TRUE(kOnDevice);
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 3}});
  const auto columns = constant<UINT>(graph, kUint, {2, 3}, {2, 0, 1, 1, 1, 0});
  const auto picked = gather_elements(x, columns, 1);
  const auto turned = identity(reinterpret(picked, {3, 2}, {1, 3}));
  const auto parts = split(turned, {1, 2}, 0);
  const auto joined = join({parts[1], parts[0]}, 0);
  const auto cut = slice(tile(joined, {1, 2}), {0, 0}, {3, 4}, {2, 1});
  const auto padded = pad(cut, DML_PADDING_MODE_EDGE, 0, {0, 1}, {0, 0});
  const auto compiled = graph.compile({padded});
  const UINT64 bytes = padded.desc.total;
  Bytes output;
  const Bytes input = bytes_of<float>({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(crossed(machine, compiled.Get(), {input}, bytes, output), 24) << "the constant, once";
  EXPECT_EQ(crossed(machine, compiled.Get(), {input}, bytes, output), 0);
  EXPECT_EQ(values_of<float>(output, bytes / 4),
            (std::vector<float>{0, 0, 4, 0, 4, 2, 2, 4, 2, 4}));
}

TEST(DeviceMemory, ConversionsAreStagedAlone) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {1, 4}});
  const auto longer = tile(x, {1, 2});
  const auto numbers = cast(longer, kInt);
  const auto compiled = graph.compile({tile(numbers, {2, 1})});
  Bytes output;
  // 8 floats down; 8 integers down, as strided outputs keep what is between elements, and up.
  EXPECT_EQ(crossed(machine, compiled.Get(), {bytes_of<float>({1.5, -2.5, 3, 4})}, 64, output),
            3 * 32);
  EXPECT_EQ(values_of<int32_t>(output, 16),
            (std::vector<int32_t>{1, -2, 3, 4, 1, -2, 3, 4, 1, -2, 3, 4, 1, -2, 3, 4}));
}

TEST(DeviceMemory, CopiesBetweenBuffersStayThere) {
  Machine machine;
  const auto from = machine.upload(bytes_of<float>({1, 2, 3, 4}));
  const auto to = machine.buffer(16);
  machine.list->CopyResource(to.Get(), from.Get());
  machine.execute();
  const int64_t before = transferred_bytes();
  machine.list->CopyBufferRegion(to.Get(), 4, from.Get(), 8, 8);
  machine.execute();
  EXPECT_EQ(transferred_bytes(), before);
  machine.list->CopyBufferRegion(to.Get(), 0, to.Get(), 4, 12);  // onto itself
  EXPECT_EQ(values_of<float>(machine.download(to.Get()), 4), (std::vector<float>{3, 4, 4, 4}));
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// Sizes whose sums and products leave 64 bits: each is refused, and none wraps.
#include <limits>

#include "compat/fluent.h"

using namespace compat;

namespace {

constexpr UINT64 kMost = std::numeric_limits<UINT64>::max();
constexpr UINT kMostUint = std::numeric_limits<UINT>::max();

// Floats {2, 3} that say they have `total` bytes.
TensorDesc declared(UINT64 total) {
  TensorDesc desc(kFloat, {2, 3});
  desc.total = total;
  return desc;
}

Expression copy(const Expression& x, const TensorDesc& output) {
  return x.graph->add(DML_OPERATOR_ELEMENT_WISE_IDENTITY, {x}, {output},
                      [](const DML_TENSOR_DESC* t) {
                        return DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{&t[0], &t[1], nullptr};
                      })[0];
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "not refused";
}

constexpr const char* kTooLarge =
    "device_->CompileGraph(&desc, flags, IID_PPV_ARGS(&compiled)): CompileGraph: tensors too "
    "large\n"
    "  the intermediate tensors need more than 2^62 bytes\n"
    "  DML_GRAPH_DESC\n"
    "  try: smaller tensors";

TEST(Sizes, AnIntermediateTensorOfAlmostAllBytes) {
  Machine machine;
  for (const UINT64 total :
       {kMost - 3, kMost - 255, kMost - 256, kMost / 2 + 1, kMost / 2 - 3, (UINT64{1} << 62) + 4}) {
    Graph graph(machine.dml.Get());
    const auto x = graph.input(0, {kFloat, {2, 3}});
    const auto y = copy(copy(x, declared(total)), {kFloat, {2, 3}});
    EXPECT_EQ(refusal([&] { graph.compile({y}); }), kTooLarge) << total;
  }
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 3}});
  const auto y = copy(copy(x, declared(UINT64{1} << 62)), {kFloat, {2, 3}});
  EXPECT_EQ(graph.compile({y})->GetBindingProperties().TemporaryResourceSize, UINT64{1} << 62);
}

// Each fits; both are alive while the third node runs.
TEST(Sizes, IntermediateTensorsThatAreTooLargeTogether) {
  Machine machine;
  for (const UINT64 total : {kMost - 3, kMost / 2, (UINT64{1} << 61) + 4}) {
    Graph graph(machine.dml.Get());
    const auto x = graph.input(0, {kFloat, {2, 3}});
    const auto first = copy(x, declared(total - total % 4)), second = copy(x, declared(1 << 20));
    const auto third = copy(x, declared(total - total % 4));
    const auto joined = join({copy(first, {kFloat, {2, 3}}), copy(second, {kFloat, {2, 3}}),
                              copy(third, {kFloat, {2, 3}})},
                             0);
    EXPECT_EQ(refusal([&] { graph.compile({joined}); }), kTooLarge) << total;
  }
}

// A tensor may be declared larger than it is. What is bound must have all of it.
TEST(Sizes, DeclaredSizesAreAskedForAtBinding) {
  for (const UINT64 total : {kMost - 3, kMost / 2 + 1, UINT64{1} << 32, UINT64{64}}) {
    Machine machine;
    Graph graph(machine.dml.Get());
    copy(graph.input(0, declared(total)), {kFloat, {2, 3}});
    const auto compiled = graph.compile_last();
    const auto from = machine.buffer(32), to = machine.buffer(32);
    machine.record(compiled.Get(), {{from.Get(), 0, 32}}, {{to.Get(), 0, 32}});
    EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), E_INVALIDARG) << total;
    EXPECT_EQ(std::string(SheafDmlLastErrorText()),
              "DML_OPERATOR_ELEMENT_WISE_IDENTITY: binding too small\n"
              "  InputTensor has SizeInBytes 32, but needs " +
                  std::to_string(total) +
                  "\n"
                  "  1 inputs   1 outputs   temporary 0 bytes   persistent 0 bytes\n"
                  "  try: as many bytes as TotalTensorSizeInBytes or the binding properties say");
  }
}

// A tensor of 5 bytes whose size was rounded up to 8, which another node reads: all 8.
TEST(Sizes, AnOutputThatIsReadFurther) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {DML_TENSOR_DATA_TYPE_UINT8, {1, 5}});
  const auto five = copy(x, {DML_TENSOR_DATA_TYPE_UINT8, {1, 5}});
  const auto eight = copy(reinterpret(five, {1, 8}, {}), {DML_TENSOR_DATA_TYPE_UINT8, {1, 8}});
  const auto compiled = graph.compile({five, eight});
  const auto from = machine.buffer(5), first = machine.buffer(5), second = machine.buffer(8);
  machine.record(compiled.Get(), {{from.Get(), 0, 5}}, {{first.Get(), 0, 5}, {second.Get(), 0, 8}});
  EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_NE(
      std::string(SheafDmlLastErrorText()).find("graph output 0 has SizeInBytes 5, but needs 8"),
      std::string::npos);
}

TEST(Sizes, OwnedTensorsThatAreTooLargeTogether) {
  Machine machine;
  Graph graph(machine.dml.Get());
  // Two of 2^62 bytes fit into 2^63 - 1 no more; each by itself does.
  const auto owned = [&](UINT index) {
    TensorDesc desc(DML_TENSOR_DATA_TYPE_UINT8, {(1u << 31) + 1, 1}, {1u << 31, 1});
    desc.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    return graph.input(index, desc);
  };
  const auto take = [](const Expression& x) {
    return x.graph->add(DML_OPERATOR_SLICE1, {x}, {{x.desc.type, {1, 1}}},
                        [](const DML_TENSOR_DESC* t) {
                          static const UINT zeros[] = {0, 0}, ones[] = {1, 1};
                          static const INT steps[] = {1, 1};
                          return DML_SLICE1_OPERATOR_DESC{&t[0], &t[1], 2, zeros, ones, steps};
                        })[0];
  };
  const auto one = take(owned(0));
  EXPECT_EQ(graph.compile({one})->GetBindingProperties().PersistentResourceSize,
            (UINT64{1} << 62) + 256);
  const auto two = take(owned(1));
  EXPECT_EQ(refusal([&] {
              graph.compile({one, two});
            }),
            "device_->CompileGraph(&desc, flags, IID_PPV_ARGS(&compiled)): DML_GRAPH_DESC: tensors "
            "too large\n"
            "  the inputs that are OWNED_BY_DML need more than 2^63 - 1 bytes together\n"
            "  graph input 1\n"
            "  try: fewer inputs that are OWNED_BY_DML");
}

// Products of sizes in the descriptors of operators.
TEST(Sizes, ProductsInOperatorDescriptors) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {DML_TENSOR_DATA_TYPE_UINT8, {kMostUint}});
  const auto made = [&](const TensorDesc& to, auto fill, DML_OPERATOR_TYPE type) {
    const std::string text = refusal([&] { graph.add(type, {x}, {to}, fill); });
    return text.substr(std::min(text.find("DML_OPERATOR"), text.size()));
  };
  const UINT most[] = {kMostUint};
  EXPECT_EQ(made(
                {DML_TENSOR_DATA_TYPE_UINT8, {kMostUint}},
                [&](const DML_TENSOR_DESC* t) {
                  return DML_TILE_OPERATOR_DESC{&t[0], &t[1], 1, most};
                },
                DML_OPERATOR_TILE),
            "DML_OPERATOR_TILE: output has the wrong shape\n"
            "  dimension 0: 4294967295 entries of stride 1, repeated 4294967295 times, are more "
            "than 2^63 - 1\n"
            "  InputTensor UINT8 {4294967295}   OutputTensor UINT8 {4294967295}\n"
            "  try: fewer repeats");
  const UINT zero[] = {0};
  EXPECT_EQ(made(
                {DML_TENSOR_DATA_TYPE_UINT8, {kMostUint}},
                [&](const DML_TENSOR_DESC* t) {
                  return DML_SLICE_OPERATOR_DESC{&t[0], &t[1], 1, zero, most, most};
                },
                DML_OPERATOR_SLICE),
            "DML_OPERATOR_SLICE: slice outside the tensor\n"
            "  dimension 0: 4294967295 entries from 0 in steps of 4294967295 end after 2^63 - 1\n"
            "  InputTensor UINT8 {4294967295}   OutputTensor UINT8 {4294967295}\n"
            "  try: a slice inside the tensor");
}

// The strides of a dimension of size 1 are never used, whatever their product with a step is.
TEST(Sizes, StepsOfASingleEntry) {
  Machine machine;
  Graph graph(machine.dml.Get());
  TensorDesc from(kFloat, {1, 2}, {kMostUint, 1});
  const auto x = graph.input(0, from);
  const auto y = graph.add(DML_OPERATOR_SLICE, {x}, {{kFloat, {1, 1}}}, [](const auto* t) {
    static const UINT offsets[] = {0, 1}, sizes[] = {1, 1}, steps[] = {kMostUint, kMostUint};
    return DML_SLICE_OPERATOR_DESC{&t[0], &t[1], 2, offsets, sizes, steps};
  })[0];
  EXPECT_EQ(
      values_of<float>(machine.run(graph.compile({y}).Get(), {bytes_of<float>({7, 8})}, {4})[0], 1),
      std::vector<float>{8});
}

TEST(Sizes, ConstantsOfImpossibleSizes) {
  Machine machine;
  const float value = 1;
  for (const UINT64 bytes : {kMost, kMost - 3, kMost / 2 + 1}) {
    const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{&value, bytes, nullptr};
    const DML_GRAPH_NODE_DESC node{DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
    const DML_OUTPUT_GRAPH_EDGE_DESC output{0, 0, 0, nullptr};
    const DML_GRAPH_EDGE_DESC edge{DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
    const DML_GRAPH_DESC desc{0, 1, 1, &node, 0, nullptr, 1, &edge, 0, nullptr};
    ComPtr<IDMLCompiledOperator> compiled;
    EXPECT_EQ(machine.dml->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
              E_INVALIDARG);
    EXPECT_EQ(std::string(SheafDmlLastErrorText()),
              "CompileGraph: no data\n"
              "  node 0 has no constant data, or 2^63 bytes and more\n"
              "  DML_GRAPH_DESC\n"
              "  try: operator nodes of this device, and constant data");
  }
}

// Direct3D.

TEST(Sizes, BuffersOfImpossibleSizes) {
  Machine machine;
  const CD3DX12_HEAP_PROPERTIES heap(D3D12_HEAP_TYPE_UPLOAD);
  for (const UINT64 bytes : {kMost, kMost - 255, kMost - 65535, kMost / 2 + 1, kMost / 2}) {
    const auto desc = CD3DX12_RESOURCE_DESC::Buffer(bytes);
    ComPtr<ID3D12Resource> made;
    EXPECT_EQ(machine.d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                     D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                     IID_PPV_ARGS(&made)),
              E_OUTOFMEMORY)
        << bytes;
    EXPECT_EQ(made, nullptr);
  }
}

TEST(Sizes, AllocationsThatNoNumberHolds) {
  ComPtr<ID3D12Device> device = Machine().d3d12;
  const auto size = [&](const std::vector<UINT64>& widths) {
    std::vector<D3D12_RESOURCE_DESC> descs;
    for (const UINT64 width : widths) {
      descs.push_back(CD3DX12_RESOURCE_DESC::Buffer(width));
    }
    return device->GetResourceAllocationInfo(0, static_cast<UINT>(descs.size()), descs.data())
        .SizeInBytes;
  };
  EXPECT_EQ(size({1}), 65536u);
  EXPECT_EQ(size({65536, 65537}), 3 * 65536u);
  EXPECT_EQ(size({kMost - 65535}), kMost - 65535);
  EXPECT_EQ(size({kMost - 65534}), kMost);
  EXPECT_EQ(size({kMost}), kMost);
  EXPECT_EQ(size({kMost / 2 + 1, kMost / 2 + 1}), kMost);
  EXPECT_EQ(device->GetResourceAllocationInfo(0, 1, nullptr).SizeInBytes, kMost);
  D3D12_RESOURCE_DESC texture = CD3DX12_RESOURCE_DESC::Buffer(16);
  texture.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  EXPECT_EQ(device->GetResourceAllocationInfo(0, 1, &texture).SizeInBytes, kMost);
}

TEST(Sizes, FootprintsThatNoNumberHolds) {
  Machine machine;
  const auto ask = [&](UINT64 width, UINT first, UINT count, UINT64 offset) {
    const auto desc = CD3DX12_RESOURCE_DESC::Buffer(width);
    D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout{};
    UINT rows = 0;
    UINT64 row_bytes = 0, total = 0;
    machine.d3d12->GetCopyableFootprints(&desc, first, count, offset, &layout, &rows, &row_bytes,
                                         &total);
    return std::vector<UINT64>{
        layout.Offset, layout.Footprint.Width, layout.Footprint.RowPitch, rows, row_bytes, total};
  };
  EXPECT_EQ(ask(300, 0, 1, 512), (std::vector<UINT64>{512, 300, 512, 1, 300, 300}));
  const std::vector<UINT64> none{kMost, kMostUint, kMostUint, kMostUint, kMost, kMost};
  EXPECT_EQ(ask(kMostUint - 255, 0, 1, 0)[2], kMostUint - 255);
  EXPECT_EQ(ask(kMostUint - 254, 0, 1, 0), none);
  EXPECT_EQ(ask((UINT64{1} << 32) + 4, 0, 1, 0), none);
  EXPECT_EQ(ask(kMost, 0, 1, 0), none);
  EXPECT_EQ(ask(16, 1, 1, 0), none);
  const auto two = CD3DX12_RESOURCE_DESC::Buffer(16);
  UINT64 total = 0;
  machine.d3d12->GetCopyableFootprints(&two, 0, 2, 0, nullptr, nullptr, nullptr, &total);
  EXPECT_EQ(total, kMost) << "a buffer has one";
  EXPECT_EQ(ask(16, 0, 1, kMost - 14), none);
  // All outputs may be null.
  machine.d3d12->GetCopyableFootprints(nullptr, 0, 1, 0, nullptr, nullptr, nullptr, nullptr);
  const auto desc = CD3DX12_RESOURCE_DESC::Buffer(16);
  machine.d3d12->GetCopyableFootprints(&desc, 0, 1, 0, nullptr, nullptr, nullptr, nullptr);
}

TEST(Sizes, DescriptorHeapsOfImpossibleSizes) {
  Machine machine;
  D3D12_DESCRIPTOR_HEAP_DESC desc{};
  ComPtr<ID3D12DescriptorHeap> heap;
  for (const UINT count : {0u, (1u << 22) + 1, kMostUint}) {
    desc.NumDescriptors = count;
    EXPECT_EQ(machine.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)), E_INVALIDARG);
    EXPECT_EQ(heap, nullptr);
  }
  desc.NumDescriptors = 1u << 22;
  EXPECT_EQ(machine.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
}

TEST(Sizes, MappedRangesLieInTheBuffer) {
  Machine machine;
  const auto buffer = machine.buffer(64, D3D12_HEAP_TYPE_UPLOAD);
  void* data = nullptr;
  const CD3DX12_RANGE all(0, 64), none(0, 0), outside(0, 65), huge(8, SIZE_MAX);
  EXPECT_EQ(buffer->Map(0, &all, &data), S_OK);
  EXPECT_NE(data, nullptr);
  EXPECT_EQ(buffer->Map(0, &none, nullptr), S_OK);
  EXPECT_EQ(buffer->Map(0, &outside, &data), E_INVALIDARG);
  EXPECT_EQ(buffer->Map(0, &huge, &data), E_INVALIDARG);
  EXPECT_EQ(buffer->Map(1, &all, &data), E_INVALIDARG);
}

TEST(Sizes, CopiesWhoseEndsWrap) {
  Machine machine;
  const auto from = machine.buffer(64), to = machine.buffer(64);
  struct Copy {
    UINT64 to, from, bytes;
  };
  for (const Copy c : {Copy{kMost - 7, 0, 16},
                       {0, kMost - 7, 16},
                       {8, 8, kMost - 7},
                       {kMost, kMost, 1},
                       {65, 0, 0},
                       {0, 49, 16},
                       {49, 0, 16}}) {
    machine.list->CopyBufferRegion(to.Get(), c.to, from.Get(), c.from, c.bytes);
    EXPECT_EQ(machine.list->Close(), E_INVALIDARG) << c.to << ' ' << c.from << ' ' << c.bytes;
    EXPECT_EQ(machine.list->Reset(machine.allocator.Get(), nullptr), S_OK);
  }
  machine.list->CopyBufferRegion(to.Get(), 64, from.Get(), 64, 0);
  EXPECT_EQ(machine.list->Close(), S_OK);
}

}  // namespace

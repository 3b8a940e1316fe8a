// SPDX-License-Identifier: MIT
//
// What CheckFeatureSupport answers, and what it does not know.
#include "compat/machine.h"

using namespace compat;

namespace {

class Features : public testing::Test {
 protected:
  template <class Data>
  HRESULT ask(D3D12_FEATURE feature, Data& data) {
    EXPECT_EQ(machine_.d3d12->CheckFeatureSupport(feature, nullptr, sizeof data), E_INVALIDARG);
    EXPECT_EQ(machine_.d3d12->CheckFeatureSupport(feature, &data, sizeof data - 1), E_INVALIDARG);
    EXPECT_EQ(machine_.d3d12->CheckFeatureSupport(feature, &data, sizeof data + 1), E_INVALIDARG);
    return machine_.d3d12->CheckFeatureSupport(feature, &data, sizeof data);
  }
  // Answered with zeros, whatever was there before.
  template <class Data>
  void expect_zeros(D3D12_FEATURE feature) {
    Data data;
    std::memset(static_cast<void*>(&data), 0xFF, sizeof data);
    EXPECT_EQ(ask(feature, data), S_OK) << feature;
    const Bytes zeros(sizeof data);
    EXPECT_EQ(std::memcmp(&data, zeros.data(), sizeof data), 0) << feature;
  }

  Machine machine_;
};

TEST_F(Features, Unknown) {
  UINT64 room[16]{};
  for (const int feature : {3, 4, 9, 10, 22, 24, 25, 28, 31, 50, 54, 63}) {
    for (const UINT size : {4u, 8u, 12u, 16u, 20u, 24u}) {
      EXPECT_EQ(
          machine_.d3d12->CheckFeatureSupport(static_cast<D3D12_FEATURE>(feature), room, size),
          E_INVALIDARG)
          << feature;
    }
  }
}

TEST_F(Features, Architecture) {
  D3D12_FEATURE_DATA_ARCHITECTURE old{};
  D3D12_FEATURE_DATA_ARCHITECTURE1 newer{};
  EXPECT_EQ(ask(D3D12_FEATURE_ARCHITECTURE, old), S_OK);
  EXPECT_EQ(ask(D3D12_FEATURE_ARCHITECTURE1, newer), S_OK);
  EXPECT_EQ(old.UMA, newer.UMA);
  EXPECT_EQ(old.UMA, old.CacheCoherentUMA);
  EXPECT_EQ(old.TileBasedRenderer, FALSE);
  old.NodeIndex = newer.NodeIndex = 1;
  EXPECT_EQ(ask(D3D12_FEATURE_ARCHITECTURE, old), E_INVALIDARG);
  EXPECT_EQ(ask(D3D12_FEATURE_ARCHITECTURE1, newer), E_INVALIDARG);
}

TEST_F(Features, Options) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS options{};
  EXPECT_EQ(ask(D3D12_FEATURE_D3D12_OPTIONS, options), S_OK);
  EXPECT_EQ(options.ResourceHeapTier, D3D12_RESOURCE_HEAP_TIER_2);
  EXPECT_EQ(options.ResourceBindingTier, D3D12_RESOURCE_BINDING_TIER_3);
  D3D12_FEATURE_DATA_D3D12_OPTIONS1 options1{};
  EXPECT_EQ(ask(D3D12_FEATURE_D3D12_OPTIONS1, options1), S_OK);
  EXPECT_EQ(options1.WaveOps, FALSE);
  D3D12_FEATURE_DATA_D3D12_OPTIONS3 options3{};
  EXPECT_EQ(ask(D3D12_FEATURE_D3D12_OPTIONS3, options3), S_OK);
  EXPECT_EQ(options3.CopyQueueTimestampQueriesSupported, TRUE);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS2>(D3D12_FEATURE_D3D12_OPTIONS2);
  expect_zeros<D3D12_FEATURE_DATA_SHADER_CACHE>(D3D12_FEATURE_SHADER_CACHE);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS4>(D3D12_FEATURE_D3D12_OPTIONS4);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS5>(D3D12_FEATURE_D3D12_OPTIONS5);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS6>(D3D12_FEATURE_D3D12_OPTIONS6);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS7>(D3D12_FEATURE_D3D12_OPTIONS7);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS8>(D3D12_FEATURE_D3D12_OPTIONS8);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS9>(D3D12_FEATURE_D3D12_OPTIONS9);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS10>(D3D12_FEATURE_D3D12_OPTIONS10);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS11>(D3D12_FEATURE_D3D12_OPTIONS11);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS12>(D3D12_FEATURE_D3D12_OPTIONS12);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS13>(D3D12_FEATURE_D3D12_OPTIONS13);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS14>(D3D12_FEATURE_D3D12_OPTIONS14);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS15>(D3D12_FEATURE_D3D12_OPTIONS15);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS16>(D3D12_FEATURE_D3D12_OPTIONS16);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS17>(D3D12_FEATURE_D3D12_OPTIONS17);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS18>(D3D12_FEATURE_D3D12_OPTIONS18);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS20>(D3D12_FEATURE_D3D12_OPTIONS20);
  expect_zeros<D3D12_FEATURE_DATA_D3D12_OPTIONS21>(D3D12_FEATURE_D3D12_OPTIONS21);
}

// The largest descriptor heap that it promises can be made, and one more cannot.
TEST_F(Features, CustomHeapsAndDescriptors) {
  const Messages quiet;
  D3D12_FEATURE_DATA_D3D12_OPTIONS19 options{};
  EXPECT_EQ(ask(D3D12_FEATURE_D3D12_OPTIONS19, options), S_OK);
  EXPECT_EQ(options.ComputeOnlyCustomHeapSupported, TRUE);
  EXPECT_EQ(options.RasterizerDesc2Supported, FALSE);
  EXPECT_EQ(options.MaxSamplerDescriptorHeapSize, 0u);
  D3D12_DESCRIPTOR_HEAP_DESC desc{};
  desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  desc.NumDescriptors = options.MaxViewDescriptorHeapSize;
  ComPtr<ID3D12DescriptorHeap> heap;
  EXPECT_EQ(machine_.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
  ++desc.NumDescriptors;
  EXPECT_NE(machine_.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
}

TEST_F(Features, Versions) {
  D3D12_FEATURE_DATA_SHADER_MODEL model{D3D_SHADER_MODEL_6_0};
  EXPECT_EQ(ask(D3D12_FEATURE_SHADER_MODEL, model), S_OK);
  EXPECT_EQ(model.HighestShaderModel, D3D_SHADER_MODEL_5_1);
  model.HighestShaderModel = static_cast<D3D_SHADER_MODEL>(0);
  EXPECT_EQ(ask(D3D12_FEATURE_SHADER_MODEL, model), E_INVALIDARG);
  D3D12_FEATURE_DATA_ROOT_SIGNATURE root{D3D_ROOT_SIGNATURE_VERSION_1_1};
  EXPECT_EQ(ask(D3D12_FEATURE_ROOT_SIGNATURE, root), S_OK);
  EXPECT_EQ(root.HighestVersion, D3D_ROOT_SIGNATURE_VERSION_1_1);
  root.HighestVersion = D3D_ROOT_SIGNATURE_VERSION_1_0;
  EXPECT_EQ(ask(D3D12_FEATURE_ROOT_SIGNATURE, root), S_OK);
  EXPECT_EQ(root.HighestVersion, D3D_ROOT_SIGNATURE_VERSION_1_0);
  root.HighestVersion = static_cast<D3D_ROOT_SIGNATURE_VERSION>(0);
  EXPECT_EQ(ask(D3D12_FEATURE_ROOT_SIGNATURE, root), E_INVALIDARG);
}

TEST_F(Features, AddressesFormatsAndQueues) {
  D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT addresses{};
  EXPECT_EQ(ask(D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT, addresses), S_OK);
  EXPECT_EQ(addresses.MaxGPUVirtualAddressBitsPerResource, 48u);
  EXPECT_EQ(addresses.MaxGPUVirtualAddressBitsPerProcess, 48u);
  D3D12_FEATURE_DATA_FORMAT_INFO format{DXGI_FORMAT_R32_FLOAT, 0};
  EXPECT_EQ(ask(D3D12_FEATURE_FORMAT_INFO, format), S_OK);
  EXPECT_EQ(format.PlaneCount, 1);
  D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY priority{D3D12_COMMAND_LIST_TYPE_COMPUTE, 100, 2};
  EXPECT_EQ(ask(D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, priority), S_OK);
  EXPECT_EQ(priority.PriorityForTypeIsSupported, TRUE);
  priority.Priority = 10000;
  EXPECT_EQ(ask(D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, priority), S_OK);
  EXPECT_EQ(priority.PriorityForTypeIsSupported, FALSE);
  priority.Priority = 1;
  EXPECT_EQ(ask(D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, priority), E_INVALIDARG);
  priority = {D3D12_COMMAND_LIST_TYPE_BUNDLE, 0, 0};
  EXPECT_EQ(ask(D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, priority), E_INVALIDARG);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "feature_support.h"

#include <algorithm>

#include "descriptors.h"

namespace sheaf::d3d12 {
namespace {

// Addresses of the host and of GPUs that share them.
constexpr UINT kAddressBits = 48;

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_FEATURE_LEVELS& levels) {
  if (levels.pFeatureLevelsRequested == nullptr) {
    return E_INVALIDARG;
  }
  D3D_FEATURE_LEVEL best{};
  for (UINT i = 0; i < levels.NumFeatureLevels; ++i) {
    if (levels.pFeatureLevelsRequested[i] <= kFeatureLevel) {
      best = std::max(best, levels.pFeatureLevelsRequested[i]);
    }
  }
  levels.MaxSupportedFeatureLevel = best;
  return best == D3D_FEATURE_LEVEL{} ? DXGI_ERROR_UNSUPPORTED : S_OK;
}

// Heaps hold everything; there are no tiles, and no shaders whose abilities the rest describes.
HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_D3D12_OPTIONS& options) {
  options = {};
  options.ResourceBindingTier = D3D12_RESOURCE_BINDING_TIER_3;
  options.ResourceHeapTier = D3D12_RESOURCE_HEAP_TIER_2;
  options.MaxGPUVirtualAddressBitsPerResource = kAddressBits;
  return S_OK;
}

template <class Architecture>
HRESULT answer_architecture(const Adapter& adapter, Architecture& data) {
  if (data.NodeIndex != 0) {
    return E_INVALIDARG;
  }
  data = {};
  data.UMA = data.CacheCoherentUMA = adapter.on_host() ? TRUE : FALSE;
  return S_OK;
}

HRESULT answer(const Adapter& adapter, D3D12_FEATURE_DATA_ARCHITECTURE& data) {
  return answer_architecture(adapter, data);
}

HRESULT answer(const Adapter& adapter, D3D12_FEATURE_DATA_ARCHITECTURE1& data) {
  return answer_architecture(adapter, data);
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_FORMAT_INFO& data) {
  data.PlaneCount = 1;
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT& data) {
  data = {kAddressBits, kAddressBits};
  return S_OK;
}

// The least that Direct3D 12 knows: no shader runs here.
HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_SHADER_MODEL& data) {
  if (data.HighestShaderModel < D3D_SHADER_MODEL_5_1) {
    return E_INVALIDARG;
  }
  data.HighestShaderModel = D3D_SHADER_MODEL_5_1;
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_ROOT_SIGNATURE& data) {
  if (data.HighestVersion < D3D_ROOT_SIGNATURE_VERSION_1_0) {
    return E_INVALIDARG;
  }
  data.HighestVersion = std::min(data.HighestVersion, D3D_ROOT_SIGNATURE_VERSION_1_1);
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY& data) {
  const bool queue = data.CommandListType == D3D12_COMMAND_LIST_TYPE_DIRECT ||
                     data.CommandListType == D3D12_COMMAND_LIST_TYPE_COMPUTE ||
                     data.CommandListType == D3D12_COMMAND_LIST_TYPE_COPY;
  const bool usual = data.Priority == D3D12_COMMAND_QUEUE_PRIORITY_NORMAL ||
                     data.Priority == D3D12_COMMAND_QUEUE_PRIORITY_HIGH;
  if (!queue || (!usual && data.Priority != D3D12_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME)) {
    return E_INVALIDARG;
  }
  data.PriorityForTypeIsSupported = usual ? TRUE : FALSE;
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_D3D12_OPTIONS1& options) {
  options = {};
  options.ExpandedComputeResourceStates = TRUE;
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_D3D12_OPTIONS3& options) {
  options = {};
  options.CopyQueueTimestampQueriesSupported = TRUE;
  return S_OK;
}

HRESULT answer(const Adapter&, D3D12_FEATURE_DATA_D3D12_OPTIONS19& options) {
  options = {};
  options.MaxViewDescriptorHeapSize = kMostDescriptors;
  options.ComputeOnlyCustomHeapSupported = TRUE;
  return S_OK;
}

// Everything else is about shaders, textures and drawing: none of it is there.
template <class Options>
HRESULT answer(const Adapter&, Options& options) {
  options = {};
  return S_OK;
}

template <class Data>
HRESULT answer_sized(const Adapter& adapter, void* data, UINT size) {
  return data == nullptr || size != sizeof(Data) ? E_INVALIDARG
                                                 : answer(adapter, *static_cast<Data*>(data));
}

using Answer = HRESULT (*)(const Adapter&, void*, UINT);

struct Known {
  D3D12_FEATURE feature;
  Answer answer;
};

constexpr Known kKnown[] = {
    {D3D12_FEATURE_D3D12_OPTIONS, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS>},
    {D3D12_FEATURE_ARCHITECTURE, answer_sized<D3D12_FEATURE_DATA_ARCHITECTURE>},
    {D3D12_FEATURE_FEATURE_LEVELS, answer_sized<D3D12_FEATURE_DATA_FEATURE_LEVELS>},
    {D3D12_FEATURE_FORMAT_INFO, answer_sized<D3D12_FEATURE_DATA_FORMAT_INFO>},
    {D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT,
     answer_sized<D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT>},
    {D3D12_FEATURE_SHADER_MODEL, answer_sized<D3D12_FEATURE_DATA_SHADER_MODEL>},
    {D3D12_FEATURE_D3D12_OPTIONS1, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS1>},
    {D3D12_FEATURE_ROOT_SIGNATURE, answer_sized<D3D12_FEATURE_DATA_ROOT_SIGNATURE>},
    {D3D12_FEATURE_ARCHITECTURE1, answer_sized<D3D12_FEATURE_DATA_ARCHITECTURE1>},
    {D3D12_FEATURE_D3D12_OPTIONS2, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS2>},
    {D3D12_FEATURE_SHADER_CACHE, answer_sized<D3D12_FEATURE_DATA_SHADER_CACHE>},
    {D3D12_FEATURE_COMMAND_QUEUE_PRIORITY, answer_sized<D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY>},
    {D3D12_FEATURE_D3D12_OPTIONS3, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS3>},
    {D3D12_FEATURE_D3D12_OPTIONS4, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS4>},
    {D3D12_FEATURE_D3D12_OPTIONS5, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS5>},
    {D3D12_FEATURE_D3D12_OPTIONS6, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS6>},
    {D3D12_FEATURE_D3D12_OPTIONS7, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS7>},
    {D3D12_FEATURE_D3D12_OPTIONS8, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS8>},
    {D3D12_FEATURE_D3D12_OPTIONS9, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS9>},
    {D3D12_FEATURE_D3D12_OPTIONS10, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS10>},
    {D3D12_FEATURE_D3D12_OPTIONS11, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS11>},
    {D3D12_FEATURE_D3D12_OPTIONS12, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS12>},
    {D3D12_FEATURE_D3D12_OPTIONS13, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS13>},
    {D3D12_FEATURE_D3D12_OPTIONS14, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS14>},
    {D3D12_FEATURE_D3D12_OPTIONS15, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS15>},
    {D3D12_FEATURE_D3D12_OPTIONS16, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS16>},
    {D3D12_FEATURE_D3D12_OPTIONS17, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS17>},
    {D3D12_FEATURE_D3D12_OPTIONS18, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS18>},
    {D3D12_FEATURE_D3D12_OPTIONS19, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS19>},
    {D3D12_FEATURE_D3D12_OPTIONS20, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS20>},
    {D3D12_FEATURE_D3D12_OPTIONS21, answer_sized<D3D12_FEATURE_DATA_D3D12_OPTIONS21>},
};

}  // namespace

HRESULT check_feature(const Adapter& adapter, D3D12_FEATURE feature, void* data, UINT size) {
  const auto* found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                   [feature](const Known& k) { return k.feature == feature; });
  return found == std::end(kKnown) ? E_INVALIDARG : found->answer(adapter, data, size);
}

}  // namespace sheaf::d3d12

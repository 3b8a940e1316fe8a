// SPDX-License-Identifier: MIT
//
// The functions of libd3d12 that programs link to, or look up by name.
#include <atomic>

#include "device.h"
#include "feature_support.h"

namespace sheaf::d3d12 {
namespace {

// Devices that are made after it was enabled have a queue of messages.
std::atomic<bool> debug_layer{false};

// ID3D12Debug1 is not derived from ID3D12Debug: the object has two faces and one count.
class Debug final : public ID3D12Debug3, public ID3D12Debug1 {
 public:
  Debug() { com::count_object(1); }
  ~Debug() { com::count_object(-1); }
  Debug(const Debug&) = delete;
  Debug& operator=(const Debug&) = delete;

  using ID3D12Debug3::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override {
    if (object == nullptr) {
      return E_POINTER;
    }
    if (iid == __uuidof(ID3D12Debug1)) {
      *object = static_cast<ID3D12Debug1*>(this);
    } else if (iid == __uuidof(ID3D12Debug) || iid == __uuidof(ID3D12Debug3) ||
               iid == __uuidof(IUnknown)) {
      *object = static_cast<ID3D12Debug3*>(this);
    } else {
      *object = nullptr;
      return E_NOINTERFACE;
    }
    AddRef();
    return S_OK;
  }
  ULONG AddRef() override { return count_.fetch_add(1, std::memory_order_relaxed) + 1; }
  ULONG Release() override {
    const ULONG left = count_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) {
      delete this;
    }
    return left;
  }

  void EnableDebugLayer() override { debug_layer = true; }
  // Checks are always on.
  void SetEnableGPUBasedValidation(BOOL) override {}
  void SetEnableSynchronizedCommandQueueValidation(BOOL) override {}
  void SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS) override {}

 private:
  std::atomic<ULONG> count_{1};
};

HRESULT refuse_adapter(const char* reason) {
  return com::guarded([&] {
    com::report(com::words({.who = "D3D12CreateDevice",
                            .what = "not an adapter",
                            .detail = reason,
                            .given = "no device was created",
                            .next = "an adapter of DXCore or DXGI, or null"}),
                true);
    return E_INVALIDARG;
  });
}

HRESULT no_blob(const char* function, ID3DBlob** blob, ID3DBlob** error_blob) {
  if (blob != nullptr) {
    *blob = nullptr;
  }
  if (error_blob != nullptr) {
    *error_blob = nullptr;
  }
  return com::missing(function);
}

}  // namespace
}  // namespace sheaf::d3d12

using namespace sheaf;

SHEAF_EXPORT HRESULT D3D12GetDebugInterface(REFIID iid, void** debug) {
  return com::guarded([&] { return com::create_into<d3d12::Debug>(iid, debug); });
}

SHEAF_EXPORT HRESULT D3D12GetInterface(REFIID class_id, REFIID iid, void** object) {
  if (class_id == CLSID_D3D12Debug) {
    return D3D12GetDebugInterface(iid, object);
  }
  if (object != nullptr) {
    *object = nullptr;
  }
  return E_NOINTERFACE;
}

SHEAF_EXPORT HRESULT D3D12CreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum_feature_level,
                                       REFIID iid, void** device) {
  if (device != nullptr) {
    *device = nullptr;
  }
  if (minimum_feature_level > d3d12::kFeatureLevel) {
    return DXGI_ERROR_UNSUPPORTED;
  }
  return com::guarded([&] {
    const d3d12::Adapter* found = d3d12::adapter_of(adapter);
    return found == nullptr
               ? d3d12::refuse_adapter("it is none of this machine's")
               : com::create_into<d3d12::Device>(iid, device, *found, d3d12::debug_layer.load());
  });
}

SHEAF_EXPORT HRESULT D3D12EnableExperimentalFeatures(UINT count, const IID*, void*, UINT*) {
  return count == 0 ? S_OK : E_NOINTERFACE;
}

SHEAF_EXPORT HRESULT D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC*,
                                                 D3D_ROOT_SIGNATURE_VERSION, ID3DBlob** blob,
                                                 ID3DBlob** error_blob) {
  return d3d12::no_blob("D3D12SerializeRootSignature", blob, error_blob);
}

SHEAF_EXPORT HRESULT D3D12SerializeVersionedRootSignature(
    const D3D12_VERSIONED_ROOT_SIGNATURE_DESC*, ID3DBlob** blob, ID3DBlob** error_blob) {
  return d3d12::no_blob("D3D12SerializeVersionedRootSignature", blob, error_blob);
}

SHEAF_EXPORT HRESULT D3D12CreateRootSignatureDeserializer(const void*, SIZE_T, REFIID,
                                                          void** deserializer) {
  return com::missing("D3D12CreateRootSignatureDeserializer", deserializer);
}

SHEAF_EXPORT HRESULT D3D12CreateVersionedRootSignatureDeserializer(const void*, SIZE_T, REFIID,
                                                                   void** deserializer) {
  return com::missing("D3D12CreateVersionedRootSignatureDeserializer", deserializer);
}

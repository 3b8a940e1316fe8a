// SPDX-License-Identifier: MIT
//
// A program in the manner of a Python binding: the first adapter of DXGI that makes a device, one
// buffer each for inputs, outputs and persistent data, which grow as models need and are placed in
// heaps by an allocator, and weights that DirectML owns.
#include <dxgi1_4.h>

#include "compat/gather_rows.h"
#include "compat/heap_allocator.h"

using namespace compat;

namespace {

ComPtr<IUnknown> first_adapter() {
  ComPtr<IDXGIFactory4> factory;
  COMPAT_CHECK(CreateDXGIFactory1(IID_PPV_ARGS(factory.GetAddressOf())));
  ComPtr<IDXGIAdapter> adapter;
  for (UINT i = 0; SUCCEEDED(factory->EnumAdapters(i, adapter.ReleaseAndGetAddressOf())); ++i) {
    if (D3D12CreateDevice(adapter.Get(), D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr) ==
        S_FALSE) {
      ComPtr<IUnknown> found(adapter.Get());
      return found;
    }
  }
  throw std::runtime_error("no adapter");
}

class Session {
 public:
  Session() : machine_(first_adapter().Get()) {}

  // Compiles and initializes: the table goes to the persistent buffer.
  void load(const GatherRows& rows) {
    rows_ = rows;
    op_ = rows.compile(machine_.dml.Get(), DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
    const UINT64 bytes = op_->GetBindingProperties().PersistentResourceSize;
    grow(persistent_, bytes);
    ComPtr<IDMLOperatorInitializer> initializer;
    IDMLCompiledOperator* ops[] = {op_.Get()};
    COMPAT_CHECK(machine_.dml->CreateOperatorInitializer(1, ops, IID_PPV_ARGS(&initializer)));
    const auto table = machine_.upload(bytes_of(rows.table()));
    const DML_BUFFER_BINDING owned[] = {{table.Get(), 0, rows.table_bytes()}, {nullptr, 0, 0}};
    const DML_BUFFER_ARRAY_BINDING array{2, owned};
    const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    const DML_BUFFER_BINDING range{persistent_.Get(), 0, bytes};
    const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &range};
    const auto bindings = machine_.table(initializer.Get());
    bindings->BindInputs(1, &inputs);
    bindings->BindOutputs(1, &output);
    machine_.recorder->RecordDispatch(machine_.list.Get(), initializer.Get(), bindings.Get());
    machine_.execute();
    COMPAT_CHECK(machine_.dml->GetDeviceRemovedReason());
  }

  std::vector<float> compute(const std::vector<UINT>& picks) {
    const auto staged = machine_.upload(bytes_of(picks));
    grow(inputs_, rows_.picks_bytes());
    grow(outputs_, rows_.output_bytes());
    machine_.list->CopyBufferRegion(inputs_.Get(), 0, staged.Get(), 0, rows_.picks_bytes());
    const auto bindings = machine_.table(op_.Get());
    bind(bindings.Get(), {{nullptr, 0, 0}, {inputs_.Get(), 0, rows_.picks_bytes()}},
         {{outputs_.Get(), 0, rows_.output_bytes()}});
    const DML_BUFFER_BINDING range{persistent_.Get(), 0,
                                   op_->GetBindingProperties().PersistentResourceSize};
    const DML_BINDING_DESC persistent{DML_BINDING_TYPE_BUFFER, &range};
    bindings->BindPersistentResource(&persistent);
    machine_.recorder->RecordDispatch(machine_.list.Get(), op_.Get(), bindings.Get());
    const Bytes read = machine_.download(outputs_.Get());
    COMPAT_CHECK(machine_.dml->GetDeviceRemovedReason());
    return values_of<float>(read, rows_.picks * rows_.columns);
  }

 private:
  // The old buffer's bytes are not used again: its place in the heap is gone with it.
  void grow(ComPtr<ID3D12Resource>& buffer, UINT64 bytes) {
    if (buffer == nullptr || buffer->GetDesc().Width < bytes) {
      buffer = allocator_.allocate(bytes);
    }
  }

  Machine machine_;
  HeapAllocator allocator_{machine_.d3d12.Get(),
                           16 * UINT64{D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT}};
  GatherRows rows_{};
  ComPtr<IDMLCompiledOperator> op_;
  ComPtr<ID3D12Resource> persistent_, inputs_, outputs_;
};

TEST(PyDirectMLLike, ModelsOneAfterTheOther) {
  const long before = SheafLiveObjects();
  {
    Session session;
    for (const GatherRows& rows :
         {GatherRows{10, 3, 5}, GatherRows{200, 16, 40}, GatherRows{7, 1, 2}}) {
      session.load(rows);
      for (const UINT seed : {0u, 5u}) {
        EXPECT_EQ(session.compute(rows.some_picks(seed)), rows.expected(rows.some_picks(seed)));
      }
    }
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

}  // namespace

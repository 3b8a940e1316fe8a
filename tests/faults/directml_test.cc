// SPDX-License-Identifier: MIT
//
// DirectML: from a device to a dispatch. Alone, because of DirectML's many short names.
#include "faults/each_allocation.h"
#include "frontends/directml/dml.h"

namespace {

using namespace dml_test;
using sheaf::faults::fail_each_allocation;
using sheaf::faults::Output;

const std::vector<float> kInput = {0, 1, 2, 3, 4, 5};
const std::vector<uint32_t> kIndices = {2, 0};
const std::vector<float> kUpdates = {20, 21, 22, 23};

void check(HRESULT result) {
  sheaf::faults::throw_if_out_of_memory(result == E_OUTOFMEMORY);
  if (result != S_OK) {
    throw sheaf::Error(sheaf::ErrorCode::kInvalidArgument, LastErrorText());
  }
}

template <class Buffers>
void whole_way(Call call, const Buffers& buffers) {
  ComPtr<IDMLDevice> made;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  check(sheaf::dml::CreateDevice({.feature_level = DML_FEATURE_LEVEL_6_4}, &made));
  check(call.create(made.Get(), &op));
  check(made->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled));
  check(made->Dispatch(compiled.Get(), buffers.bindings()));
}

TEST(OutOfMemoryEverywhere, DirectMlGather) {
  EXPECT_GT(fail_each_allocation(
                "DirectML gather",
                [](Output& o) {
                  const WholeBuffers buffers(HostBuffer(kInput), HostBuffer(kIndices),
                                             HostBuffer(o, 4 * sizeof(float)));
                  whole_way(gather(f32({3, 2}), u32({1, 2}), f32({2, 2}), 0, 1), buffers);
                }),
            3);
}

TEST(OutOfMemoryEverywhere, DirectMlScatter) {
  EXPECT_GT(fail_each_allocation(
                "DirectML scatter",
                [](Output& o) {
                  const ScatterBuffers buffers(HostBuffer(kInput), HostBuffer(kIndices),
                                               HostBuffer(kUpdates),
                                               HostBuffer(o, 6 * sizeof(float)));
                  whole_way(scatter_nd(f32({3, 2}), u32({2, 1}), f32({2, 2}), 2, 2), buffers);
                }),
            3);
}

}  // namespace

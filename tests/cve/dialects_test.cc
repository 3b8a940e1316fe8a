// SPDX-License-Identifier: MIT
//
// The same holes through the front ends that have descriptors of their own: C, DirectML and BNNS.
// All memory lies between guard pages. DirectML clamps a bad index, the others refuse it.
#include <gtest/gtest.h>
#include <sheaf/bnns.h>
#include <sheaf/c.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "capi/helpers.h"
#include "frontends/directml/dml.h"
#include "helpers/guarded.h"
#include "helpers/limits.h"

namespace {

constexpr int64_t kEntries = 3;
const std::vector<int64_t> kBadIndices = {-10,       kEntries,  kEntries + 1,
                                          INT32_MAX, INT64_MAX, INT64_MIN};

// Values right before a page that may not be touched.
template <class T>
class AtTheEdge {
 public:
  explicit AtTheEdge(std::vector<T> values) : memory_(values.size() * sizeof(T)) {
    const auto part = memory_.part(values.size() * sizeof(T), Flush::kBack);
    std::memcpy(part.data(), values.data(), part.size());
    values_ = {reinterpret_cast<T*>(part.data()), values.size()};
  }
  std::span<T> values() const { return values_; }

 private:
  GuardedMemory memory_;
  std::span<T> values_;
};

// Three floats, one index, one float, in the C interface.
struct CGather {
  AtTheEdge<float> data{{1, 2, 3}}, output{{-1}};
  AtTheEdge<int64_t> index;
  int64_t data_shape[1] = {kEntries}, one[1] = {1};

  explicit CGather(int64_t value) : index({value}) {}

  DLTensor tensor(void* memory, DLDataType type, int64_t* shape) const {
    DLTensor made = {};
    made.data = memory;
    made.device = {kDLCPU, 0};
    made.ndim = 1;
    made.dtype = type;
    made.shape = shape;
    return made;
  }
  sheaf_status run(const sheaf_gather_options& options) {
    const DLTensor from = tensor(data.values().data(), {kDLFloat, 32, 1}, data_shape);
    const DLTensor where = tensor(index.values().data(), {kDLInt, 64, 1}, one);
    const DLTensor to = tensor(output.values().data(), {kDLFloat, 32, 1}, one);
    return sheaf_gather(&from, &where, &to, &options);
  }
};

TEST(CVE_2021_37687, EveryIndexIsCheckedInC) {
  for (const int64_t bad : kBadIndices) {
    CGather call(bad);
    EXPECT_EQ(call.run({}), SHEAF_INDEX_OUT_OF_RANGE) << bad;
    EXPECT_EQ(call.output.values()[0], -1);
    sheaf_gather_options options = {};
    options.rule.out_of_range = SHEAF_CLAMP;
    EXPECT_EQ(call.run(options), SHEAF_OK);
    EXPECT_EQ(call.output.values()[0], bad < 0 ? 1 : 3);
  }
}

TEST(CVE_2022_21728, AxisAndBatchDimsAreCheckedAtBothEndsInC) {
  for (const int64_t bad : {int64_t{1}, int64_t{-2}, INT64_MAX, INT64_MIN}) {
    CGather call(0);
    sheaf_gather_options options = {};
    options.axis = bad;
    EXPECT_EQ(call.run(options), SHEAF_INVALID_ARGUMENT) << bad;
    options = {};
    options.batch_dims = bad;
    EXPECT_EQ(call.run(options), SHEAF_INVALID_ARGUMENT) << bad;
  }
}

TEST(CVE_2022_35934, ProductsThatOverflowAreRefusedInC) {
  int64_t huge[] = {int64_t{1} << 32, int64_t{1} << 32}, one[] = {1};
  CGather call(0);
  DLTensor data = call.tensor(nullptr, {kDLFloat, 32, 1}, huge);
  data.ndim = 2;
  const DLTensor index = call.tensor(call.index.values().data(), {kDLInt, 64, 1}, one);
  sheaf_plan* plan = nullptr;
  EXPECT_EQ(sheaf_plan_gather(&data, &index, nullptr, nullptr, &plan), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

// The four gathers and two scatters of DirectML, each with one index into three entries.
std::vector<dml_test::Call> directml_calls() {
  using namespace dml_test;
  return {gather(f32({kEntries}), i64({1}), f32({1}), 0, 1),
          gather_elements(f32({kEntries}), i64({1}), f32({1}), 0),
          gather_nd(f32({1, kEntries}), i64({1, 1}), f32({1, 1}), 1, 1),
          gather_nd1(f32({1, kEntries}), i64({1, 1}), f32({1, 1}), {1, 1, 0}),
          scatter_elements(f32({kEntries}), i64({1}), f32({1}), 0),
          scatter_nd(f32({1, kEntries}), i64({1, 1}), f32({1, 1}), 1, 1)};
}

TEST(CVE_2022_35939, NoIndexLeadsOutsideABufferInDirectml) {
  using namespace dml_test;
  for (Call& call : directml_calls()) {
    const Compiled compiled = compile(call);
    ASSERT_TRUE(compiled.op) << LastErrorText();
    for (const int64_t bad : kBadIndices) {
      const AtTheEdge<float> data({1, 2, 3}), updates({9});
      const AtTheEdge<int64_t> index({bad});
      const AtTheEdge<float> output(std::vector<float>(call.updates ? kEntries : 1, -1));
      const std::span<float> got = output.values();
      const auto buffer = [](auto values) {
        return HostBuffer(values.data(), values.size_bytes());
      };
      const HostBuffer in = buffer(data.values()), where = buffer(index.values()),
                       with = buffer(updates.values()), out = buffer(got);
      const HRESULT result =
          call.updates ? compiled.device->Dispatch(compiled.op.Get(),
                                                   ScatterBuffers(in, where, with, out).bindings())
                       : compiled.device->Dispatch(compiled.op.Get(),
                                                   WholeBuffers(in, where, out).bindings());
      EXPECT_EQ(result, S_OK) << LastErrorText();
      EXPECT_EQ(bad < 0 ? got.front() : got.back(), call.updates ? 9 : bad < 0 ? 1 : 3) << bad;
    }
  }
}

TEST(CVE_2021_37654, AttributesAreCheckedInDirectml) {
  using namespace dml_test;
  for (const UINT bad : {1u, 2u, 10u, kHuge}) {
    EXPECT_EQ(check(gather(f32({3}), i64({1}), f32({1}), bad, 1)), E_INVALIDARG) << bad;
    EXPECT_EQ(check(gather_elements(f32({3}), i64({1}), f32({1}), bad)), E_INVALIDARG) << bad;
    EXPECT_EQ(check(gather_nd1(f32({3}), i64({1}), f32({1}), {1, 1, bad})), E_INVALIDARG) << bad;
  }
}

TEST(CVE_2021_37653, EmptyAndHugeTensorsAreRefusedInDirectml) {
  using namespace dml_test;
  EXPECT_EQ(check(gather(f32({0}), i64({1}), f32({1}), 0, 1)), E_INVALIDARG);
  EXPECT_EQ(check(gather(f32({3}), i64({0}), f32({1}), 0, 1)), E_INVALIDARG);
  EXPECT_EQ(check(gather(f32({kHuge, kHuge, kHuge}), i64({1, 1, 1}), f32({1, 1, 1}), 0, 1)),
            E_INVALIDARG);
  EXPECT_EQ(check(gather(f32({}), i64({}), f32({}), 0, 0)), E_INVALIDARG);
}

TEST(CVE_2021_37655, UpdatesOfAnotherShapeAreRefusedInDirectml) {
  using namespace dml_test;
  EXPECT_EQ(check(scatter_elements(f32({8}), i64({1}), f32({5}), 0)), E_INVALIDARG);
  EXPECT_EQ(check(scatter_nd(f32({4, 2}), i64({1, 1}), f32({2, 1}), 2, 2)), E_INVALIDARG);
}

BNNSNDArrayDescriptor vector_of(BNNSDataType type, size_t size, void* data) {
  BNNSNDArrayDescriptor made = {};
  made.layout = BNNSDataLayoutVector;
  made.size[0] = size;
  made.data_type = type;
  made.data = data;
  return made;
}

TEST(CVE_2021_37687, EveryIndexIsCheckedInBnns) {
  for (const int64_t bad : kBadIndices) {
    const AtTheEdge<float> data({1, 2, 3}), output({-1}), cells({-1, -1, -1});
    const AtTheEdge<int64_t> index({bad});
    BNNSNDArrayDescriptor from = vector_of(BNNSDataTypeFloat32, 3, data.values().data());
    BNNSNDArrayDescriptor where = vector_of(BNNSDataTypeInt64, 1, index.values().data());
    BNNSNDArrayDescriptor to = vector_of(BNNSDataTypeFloat32, 1, output.values().data());
    BNNSNDArrayDescriptor into = vector_of(BNNSDataTypeFloat32, 3, cells.values().data());
    EXPECT_NE(BNNSGather(0, &from, &where, &to, nullptr), 0) << bad;
    EXPECT_EQ(output.values()[0], -1);
    EXPECT_NE(BNNSScatter(0, BNNSReduceFunctionSum, &to, &where, &into, nullptr), 0) << bad;
    for (const float cell : cells.values()) {
      EXPECT_EQ(cell, -1);
    }
  }
}

TEST(CVE_2022_35934, SizesAndAxesAreCheckedInBnns) {
  float value = 0, result = -1;
  int64_t index = 0;
  const BNNSNDArrayDescriptor where = vector_of(BNNSDataTypeInt64, 1, &index);
  BNNSNDArrayDescriptor to = vector_of(BNNSDataTypeFloat32, 1, &result);
  for (const size_t bad : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1}) {
    const BNNSNDArrayDescriptor from = vector_of(BNNSDataTypeFloat32, bad, &value);
    EXPECT_NE(BNNSGather(0, &from, &where, &to, nullptr), 0) << bad;
    const BNNSNDArrayDescriptor sound = vector_of(BNNSDataTypeFloat32, 1, &value);
    EXPECT_NE(BNNSGather(bad, &sound, &where, &to, nullptr), 0) << bad;
  }
  EXPECT_EQ(result, -1);
}

}  // namespace

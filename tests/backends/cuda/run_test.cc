// SPDX-License-Identifier: MIT
//
// The last checks before a plan runs on the GPU: what can be seen from the host is refused at once,
// in the words of Plan::run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "helpers/device.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CudaRun : public DeviceTest {
 protected:
  const Plan gathers = plan_gather({f32, {3, 2}}, {i64, {2}});
  const Plan scatters =
      plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}}, {.reduction = Reduction::kAdd});
};

// Enough for one call: 64 floats and the numbers 0 to 7.
struct Tensors {
  CudaMemory floats{256}, numbers{64};

  Tensors() {
    floats.fill(std::byte{0}, 256);
    const std::vector<int64_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
    numbers.upload(values.data(), 64);
  }
  float* at(int64_t element) const { return reinterpret_cast<float*>(floats.data()) + element; }
};

void expect_four_lines(const std::string& text) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr("\n  try: "));
}

TEST_F(CudaRun, RefusesWhatPlanRunRefuses) {
  const Tensors t;
  const cuda::Workspace workspace(
      std::max(cuda::workspace_bytes(gathers), cuda::workspace_bytes(scatters)));
  const void* i = t.numbers.data();
  const auto same = [&](const void* data, const void* indices, void* output) {
    EXPECT_EQ(refusal([&] { cuda::run(gathers, data, indices, output, workspace); }),
              refusal([&] { gathers.run(data, indices, output); }));
  };
  same(nullptr, i, t.at(32));
  same(t.at(0), nullptr, t.at(32));
  same(t.at(0), i, nullptr);
  same(t.at(0), i, t.at(5));
  same(t.at(0), i, t.numbers.data() + 8);
  const auto same_scatter = [&](const void* data, const void* indices, const void* updates,
                                void* output) {
    EXPECT_EQ(refusal([&] { cuda::run(scatters, data, indices, updates, output, workspace); }),
              refusal([&] { scatters.run(data, indices, updates, output); }));
  };
  same_scatter(nullptr, i, t.at(8), t.at(32));
  same_scatter(t.at(0), nullptr, t.at(8), t.at(32));
  same_scatter(t.at(0), i, nullptr, t.at(32));
  same_scatter(t.at(0), i, t.at(8), nullptr);
  same_scatter(t.at(1), i, t.at(16), t.at(0));
  same_scatter(t.at(16), i, t.at(3), t.at(0));
  EXPECT_EQ(refusal([&] { cuda::run(scatters, t.at(0), i, t.at(32), workspace); }),
            refusal([&] { scatters.run(t.at(0), i, t.at(32)); }));
  EXPECT_EQ(refusal([&] { cuda::run(gathers, t.at(0), i, t.at(8), t.at(32), workspace); }),
            refusal([&] { gathers.run(t.at(0), i, t.at(8), t.at(32)); }));
}

TEST_F(CudaRun, TakesNullForWhatIsEmptyOrNotRead) {
  const Tensors t;
  const auto run = [](const Plan& plan, auto... pointers) {
    const cuda::Workspace workspace(plan);
    cuda::run(plan, pointers..., workspace);
    cuda::check(plan, workspace);
  };
  const void* i = t.numbers.data();
  void* nothing = nullptr;
  EXPECT_NO_THROW(run(plan_gather({f32, {8, 0}}, {i64, {2}}), nullptr, i, nothing));
  EXPECT_NO_THROW(run(plan_gather({f32, {3}}, {i64, {0}}), t.at(0), nullptr, nothing));
  EXPECT_NO_THROW(
      run(plan_scatter({f32, {8, 0}}, {i64, {2}}, {f32, {2, 0}}), nullptr, i, nullptr, nothing));
  EXPECT_NO_THROW(run(plan_scatter({f32, {3}}, {i64, {2}}, {f32, {2}}, {.onto_zeros = true}),
                      nullptr, i, t.at(0), static_cast<void*>(t.at(8))));
}

TEST_F(CudaRun, RefusesWorkspacesThatDoNotServe) {
  const Tensors t;
  for (const Plan& plan : {gathers, scatters}) {
    const size_t bytes = cuda::workspace_bytes(plan);
    ASSERT_GT(bytes, 0u);
    const CudaMemory memory(bytes + 256);
    const auto text = [&](cuda::WorkspaceView workspace) {
      return refusal([&] {
        if (plan.is_scatter()) {
          cuda::run(plan, t.at(0), t.numbers.data(), t.at(8), t.at(32), workspace);
        } else {
          cuda::run(plan, t.at(0), t.numbers.data(), t.at(32), workspace);
        }
      });
    };
    for (const cuda::WorkspaceView workspace :
         {cuda::WorkspaceView{memory.data(), bytes - 1}, cuda::WorkspaceView{nullptr, bytes},
          cuda::WorkspaceView{memory.data() + 8, bytes}, cuda::WorkspaceView{}}) {
      expect_four_lines(text(workspace));
      EXPECT_THAT(text(workspace), HasSubstr("workspace"));
    }
  }
}

// A GPU reads numbers at their multiples only; what is merely moved may lie anywhere.
TEST_F(CudaRun, RefusesNumbersThatAreNotAligned) {
  const Tensors t;
  const cuda::Workspace workspace(
      std::max(cuda::workspace_bytes(gathers), cuda::workspace_bytes(scatters)));
  const std::byte *f = t.floats.data(), *i = t.numbers.data();
  std::byte* output = t.floats.data() + 128;
  const auto expect_refusal = [](auto call) {
    const std::string text = refusal(call);
    EXPECT_THAT(text, HasSubstr(": misaligned pointer\n"));
    expect_four_lines(text);
  };
  expect_refusal([&] { cuda::run(gathers, f, i + 4, output, workspace); });
  expect_refusal([&] { cuda::run(scatters, f, i + 1, f + 64, output, workspace); });
  expect_refusal([&] { cuda::run(scatters, f, i, f + 65, output, workspace); });
  expect_refusal([&] { cuda::run(scatters, f, i, f + 64, output + 3, workspace); });
  EXPECT_NO_THROW(cuda::run(gathers, f + 1, i, output + 3, workspace));
  EXPECT_NO_THROW(cuda::check(gathers, workspace));
}

TEST_F(CudaRun, HasNoVerdictWithoutAWorkspace) {
  const std::string text = refusal([&] { cuda::check(gathers, {}); });
  EXPECT_THAT(text, HasSubstr(": no verdict to read\n"));
  expect_four_lines(text);
}

TEST_F(CudaRun, NeedsAWorkspaceOnlyWhereThePageSaysSo) {
  const Tensors t;
  const Plan clamps =
      plan_gather({f32, {3, 2}}, {i64, {2}}, {.rule = {.out_of_range = OutOfRange::kClamp}});
  EXPECT_EQ(cuda::workspace_bytes(clamps), 0u);
  EXPECT_NO_THROW(cuda::run(clamps, t.at(0), t.numbers.data(), t.at(32)));
  EXPECT_NO_THROW(cuda::check(clamps, {}));
}

TEST_F(CudaRun, RefusesKernelsThatAreNotThere) {
  const Tensors t;
  const cuda::Workspace workspace(gathers);
  for (const char* name : {"abacus", "cuda.", "cuda.abacus", "reference.loops"}) {
    const std::string text = refusal(
        [&] {
          cuda::run(gathers, t.at(0), t.numbers.data(), t.at(32), workspace, nullptr,
                    {.kernel = name});
        },
        ErrorCode::kUnsupported);
    EXPECT_THAT(text, StartsWith("gather: no such kernel\n"));
    expect_four_lines(text);
  }
}

std::vector<std::string> accepting(const Plan& plan) {
  std::vector<std::string> names;
  for (const KernelReport& report : cuda::kernels_for(plan)) {
    if (report.refusal.empty()) {
      names.push_back(report.name);
    }
  }
  return names;
}

// explain names the kernel that runs: those for small calls and for odd rows have a row in the
// table.
TEST_F(CudaRun, SmallCallsAndOddRowsHaveTheirOwnKernels) {
  EXPECT_EQ(accepting(gathers).front(), "cuda.small");
  const Plan more = plan_gather({f32, {3, 2}}, {i64, {20000}});
  EXPECT_EQ(accepting(more).front(), "cuda.rows");
  const Plan odd = plan_gather({u8, {30, 33}}, {i64, {20000}});
  EXPECT_EQ(accepting(odd).front(), "cuda.odd_rows");
  EXPECT_EQ(accepting(odd)[1], "cuda.rows");
}

// What moves whole entries refuses those at odd addresses; the rows kernel takes them.
TEST_F(CudaRun, KernelsRefuseEntriesThatAreNotAligned) {
  constexpr int64_t kRows = 300, kEntries = 64;
  const Plan plan = plan_gather({f32, {kRows, kEntries}}, {i64, {kEntries}},
                                {.axis = 1, .rule = {.out_of_range = OutOfRange::kClamp}});
  ASSERT_EQ(accepting(plan).front(), "cuda.lookup");
  const CudaMemory data(kRows * kEntries * 4 + 16), output(kRows * kEntries * 4 + 16);
  CudaMemory indices(kEntries * 8);
  indices.fill(std::byte{0}, indices.bytes());
  const auto run = [&](size_t shift, std::string_view kernel) {
    cuda::run(plan, data.data() + shift, indices.data(), output.data(), {}, nullptr,
              {.kernel = kernel});
  };
  EXPECT_NO_THROW(run(0, "cuda.lookup"));
  const std::string text = refusal([&] { run(2, "cuda.lookup"); }, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("cuda.lookup refuses: entries are not aligned"));
  EXPECT_NO_THROW(run(2, ""));
  cuda::check(plan, {});
}

// Refused before anything is launched: the tensors of this call do not exist.
TEST_F(CudaRun, RefusesMoreBlocksThanALaunchCanHave) {
  const Plan plan = plan_gather({u8, {3}}, {u8, {int64_t{1} << 43}, {0}},
                                {.rule = {.out_of_range = OutOfRange::kClamp}});
  const Tensors t;
  void* const far_away = t.floats.data() + (int64_t{1} << 45);
  const std::string text =
      refusal([&] { cuda::run(plan, t.floats.data(), t.numbers.data(), far_away); },
              ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("more blocks than one launch can have"));
  expect_four_lines(text);
}

TEST_F(CudaRun, WorkspacesMove) {
  const Tensors t;
  cuda::Workspace first(gathers);
  const cuda::WorkspaceView view = first;
  cuda::Workspace second(std::move(first));
  EXPECT_EQ(static_cast<cuda::WorkspaceView>(second).memory, view.memory);
  first = std::move(second);
  EXPECT_EQ(static_cast<cuda::WorkspaceView>(first).memory, view.memory);
  cuda::run(gathers, t.at(0), t.numbers.data(), t.at(32), first);
  EXPECT_NO_THROW(cuda::check(gathers, first));
}

}  // namespace
}  // namespace sheaf

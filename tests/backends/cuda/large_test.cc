// SPDX-License-Identifier: MIT
//
// Tables above 2^32 elements and more than 2^31 points: offsets that do not fit into 32 bits. Most
// of the memory holds one byte over and over; what is looked at is written by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/device.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

constexpr int64_t kBeyond = (int64_t{1} << 32) + (int64_t{1} << 20);
constexpr size_t kNeeded = size_t{12} << 30;

class CudaLarge : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && free_device_bytes(cuda::kDevice) < kNeeded) {
      GTEST_SKIP() << "needs 12 GiB of free device memory";
    }
  }
};

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

// Runs `plan` on every kernel; `visit` looks at the output.
template <class Visit>
void run_gather(const Plan& plan, const DeviceMemory& data, const DeviceMemory& indices,
                Visit visit) {
  CudaMemory output(bytes_of(plan.output()));
  const cuda::Workspace workspace(plan);
  for (const std::string& kernel : gpu().kernels(plan)) {
    output.fill(std::byte{0xEE}, output.bytes());
    cuda::run(plan, data.data(), indices.data(), output.data(), workspace, nullptr,
              {.kernel = kernel});
    cuda::check(plan, workspace);
    visit(output, kernel);
  }
}

// Rows of `row_bytes` bytes of a table of more than 2^32; those picked hold their number in the
// list.
void pick_far_rows(int64_t row_bytes) {
  const int64_t rows = kBeyond / row_bytes;
  const std::vector<int64_t> picked = {0,        1,        rows - 1, rows / 2, (rows / 4) * 3,
                                       rows - 2, rows / 3, -rows,    -1};
  const auto width = static_cast<size_t>(row_bytes);
  CudaMemory data(static_cast<size_t>(rows * row_bytes));
  data.fill(std::byte{0x55}, data.bytes());
  for (size_t i = 0; i < picked.size(); ++i) {
    const auto row = static_cast<size_t>(picked[i] < 0 ? picked[i] + rows : picked[i]);
    data.fill(static_cast<std::byte>(i + 1), width, row * width);
  }
  CudaMemory indices(picked.size() * 8);
  indices.upload(picked.data(), indices.bytes());
  const Plan plan = plan_gather({u8, {rows, row_bytes}}, {i64, {std::ssize(picked)}});
  run_gather(plan, data, indices, [&](const DeviceMemory& output, const std::string& kernel) {
    std::vector<uint8_t> got(output.bytes());
    output.download(got.data(), got.size());
    for (size_t i = 0; i < picked.size(); ++i) {
      // The last two are the first and the third again.
      const size_t expected = i == 0 ? 8 : i == 2 ? 9 : i + 1;
      EXPECT_EQ(got[i * width], expected) << kernel << ", row " << picked[i];
      EXPECT_EQ(got[i * width + width - 1], expected) << kernel << ", row " << picked[i];
    }
  });
}

TEST_F(CudaLarge, SingleBytesBeyond32Bits) { pick_far_rows(1); }
TEST_F(CudaLarge, NarrowRowsBeyond32Bits) { pick_far_rows(12); }
TEST_F(CudaLarge, WideRowsBeyond32Bits) { pick_far_rows(4096); }

TEST_F(CudaLarge, FarColumns) {
  CudaMemory data(static_cast<size_t>(kBeyond));
  data.fill(std::byte{0x55}, data.bytes());
  data.fill(std::byte{7}, 1, data.bytes() - 1);
  data.fill(std::byte{8}, 1, data.bytes() / 2 - 1);
  const std::vector<int64_t> picked = {kBeyond / 2 - 1, 0};
  CudaMemory indices(16);
  indices.upload(picked.data(), 16);
  const Plan plan = plan_gather({u8, {2, kBeyond / 2}}, {i64, {2}}, {.axis = 1});
  run_gather(plan, data, indices, [](const DeviceMemory& output, const std::string& kernel) {
    std::vector<uint8_t> got(4);
    output.download(got.data(), 4);
    EXPECT_EQ(got, (std::vector<uint8_t>{8, 0x55, 7, 0x55})) << kernel;
  });
}

TEST_F(CudaLarge, MoreThan31BitsOfPoints) {
  constexpr int64_t kPoints = (int64_t{1} << 31) + 1000;
  constexpr size_t kPiece = size_t{64} << 20;
  const std::vector<uint8_t> table = {10, 20, 30};
  CudaMemory data(3);
  data.upload(table.data(), 3);
  CudaMemory indices(kPoints);
  indices.fill(std::byte{1}, kPoints);
  indices.fill(std::byte{2}, 1, kPoints - 1);
  const Plan plan = plan_gather({u8, {3}}, {u8, {kPoints}});
  run_gather(plan, data, indices, [&](const DeviceMemory& output, const std::string& kernel) {
    std::vector<uint8_t> piece(kPiece);
    for (size_t at = 0; at < output.bytes(); at += kPiece) {
      const size_t bytes = std::min(kPiece, output.bytes() - at);
      output.download(piece.data(), bytes, at);
      const bool last = at + bytes == output.bytes();
      const auto count = std::count(piece.begin(), piece.begin() + static_cast<int64_t>(bytes), 20);
      ASSERT_EQ(static_cast<size_t>(count), bytes - (last ? 1 : 0)) << kernel << ", from " << at;
      ASSERT_TRUE(!last || piece[bytes - 1] == 30) << kernel;
    }
  });
  // The last index of all is bad.
  indices.fill(std::byte{3}, 1, kPoints - 1);
  CudaMemory output(kPoints);
  const cuda::Workspace workspace(plan);
  cuda::run(plan, data.data(), indices.data(), output.data(), workspace);
  const IndexError error = index_error([&] { cuda::check(plan, workspace); });
  EXPECT_EQ(error.position(), (Dims{kPoints - 1}));
  EXPECT_EQ(error.bad_count(), 1);
}

TEST_F(CudaLarge, ScatterBeyond32Bits) {
  CudaMemory table(static_cast<size_t>(kBeyond));
  const std::vector<int64_t> targets = {kBeyond - 1, 5, kBeyond - 1, -1, kBeyond / 2};
  const std::vector<uint8_t> updates = {1, 2, 3, 4, 5};
  CudaMemory device_targets(targets.size() * 8), device_updates(updates.size());
  device_targets.upload(targets.data(), device_targets.bytes());
  device_updates.upload(updates.data(), device_updates.bytes());
  for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
    const Plan plan =
        plan_scatter({u8, {kBeyond}}, {i64, {5}}, {u8, {5}}, {.reduction = reduction});
    const cuda::Workspace workspace(plan);
    for (const std::string& kernel : gpu().kernels(plan)) {
      table.fill(std::byte{100}, table.bytes());
      cuda::run(plan, table.data(), device_targets.data(), device_updates.data(), table.data(),
                workspace, nullptr, {.kernel = kernel});
      cuda::check(plan, workspace);
      const bool adds = reduction == Reduction::kAdd;
      for (const auto& [at, joined, last] : {std::tuple{kBeyond - 1, 108, 4},
                                             {int64_t{5}, 102, 2},
                                             {kBeyond / 2, 105, 5},
                                             {int64_t{4}, 100, 100},
                                             {(kBeyond - 1) % (int64_t{1} << 32), 100, 100}}) {
        uint8_t got = 0;
        table.download(&got, 1, static_cast<size_t>(at));
        EXPECT_EQ(got, adds ? joined : last) << kernel << " at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf

// SPDX-License-Identifier: MIT
#include "abi.h"

#include <gtest/gtest.h>

#include "helpers.h"
#include "sheaf/error.h"

extern "C" sheaf_status gather_with_zero_options(const DLTensor*, const DLTensor*, const DLTensor*);
extern "C" sheaf_status scatter_with_zero_options(const DLTensor*, const DLTensor*, const DLTensor*,
                                                  const DLTensor*);
extern "C" sheaf_status gather_with_foreign_header_before(const DLTensor*, const DLTensor*,
                                                          const DLTensor*);
extern "C" sheaf_status gather_with_foreign_header_after(const DLTensor*, const DLTensor*,
                                                         const DLTensor*);

namespace sheaf::capi_tests {
namespace {

constexpr int status(ErrorCode code) { return static_cast<int>(code); }
static_assert(SHEAF_INVALID_ARGUMENT == status(ErrorCode::kInvalidArgument));
static_assert(SHEAF_INDEX_OUT_OF_RANGE == status(ErrorCode::kIndexOutOfRange));
static_assert(SHEAF_UNSUPPORTED == status(ErrorCode::kUnsupported));
static_assert(SHEAF_OUT_OF_MEMORY == status(ErrorCode::kOutOfMemory));
static_assert(SHEAF_DEVICE_ERROR == status(ErrorCode::kDevice));
static_assert(SHEAF_FILE_ERROR == status(ErrorCode::kFile));
static_assert(SHEAF_CANCELLED == status(ErrorCode::kCancelled));

// Compiled as C, with our DLPack header or with another that came first.
TEST(CapiAbi, EveryHeaderMeansTheSameStruct) {
  for (const auto gather : {gather_with_zero_options, gather_with_foreign_header_before,
                            gather_with_foreign_header_after}) {
    Values<float> data({10, 11, 20, 21, 30, 31}, {3, 2});
    Values<int64_t> indices({2, -3}, {2});
    Values<float> output({0, 0, 0, 0}, {2, 2});
    ASSERT_EQ(gather(data, indices, output), SHEAF_OK) << sheaf_last_error();
    EXPECT_THAT(output.values, testing::ElementsAre(30, 31, 10, 11));
  }
}

TEST(CapiAbi, ZeroIsTheDefaultOfAScatter) {
  Values<float> data({10, 20, 30}, {3});
  Values<int64_t> indices({2, -3}, {2});
  Values<float> updates({1, 2}, {2});
  ASSERT_EQ(scatter_with_zero_options(data, indices, updates, data), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(data.values, testing::ElementsAre(2, 20, 1));
}

TEST(CapiAbi, Version) { EXPECT_STREQ(sheaf_version(), SHEAF_VERSION); }

}  // namespace
}  // namespace sheaf::capi_tests

// SPDX-License-Identifier: MIT
//
// Rows from known places, of every size at which they are copied another way, on one thread and on
// several, into small outputs and into such as are written around the cache.
#include "execution/host_steps.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "helpers/rng.h"

namespace sheaf {
namespace {

constexpr int64_t kSmall = 0, kLarge = int64_t{1} << 40;  // of the whole output

std::string difference(int64_t row_bytes, int64_t count, size_t shift, int64_t written_bytes,
                       int threads) {
  constexpr int64_t kRows = 40;
  Rng rng(static_cast<uint64_t>(row_bytes * 31 + count));
  std::vector<std::byte> data(static_cast<size_t>(kRows * row_bytes) + shift);
  for (std::byte& byte : data) {
    byte = static_cast<std::byte>(rng.next());
  }
  std::vector<int64_t> offsets(static_cast<size_t>(count));
  const int64_t middle = kRows / 2 * row_bytes;  // offsets may be negative
  for (int64_t& offset : offsets) {
    offset = rng.from(0, kRows - 1) * row_bytes - middle;
  }
  const size_t bytes = static_cast<size_t>(count * row_bytes);
  std::vector<std::byte> output(bytes + shift + 1, std::byte{0xEE}), expected(output);
  const std::byte* const origin = data.data() + shift + middle;
  for (size_t i = 0; i < offsets.size(); ++i) {
    std::memcpy(expected.data() + shift + i * static_cast<size_t>(row_bytes), origin + offsets[i],
                static_cast<size_t>(row_bytes));
  }
  copy_rows({origin, offsets.data(), count, row_bytes, output.data() + shift, written_bytes},
            threads);
  return output == expected ? "" : std::to_string(row_bytes) + " bytes, " + std::to_string(count);
}

TEST(CopyRows, OfEverySize) {
  for (const int64_t row_bytes :
       {1,   2,   3,   4,   7,   8,   12,  16,  31,   32,   33,   48,   64,   65,
        128, 200, 256, 320, 512, 520, 576, 768, 1000, 1024, 1088, 2048, 4096, 10248}) {
    for (const int64_t count : {0, 1, 7, 8, 9, 17, 100}) {
      for (const size_t shift : {0U, 1U, 8U}) {
        EXPECT_EQ(difference(row_bytes, count, shift, kSmall, 1), "");
        EXPECT_EQ(difference(row_bytes, count, shift, kLarge, 1), "");
      }
    }
  }
}

TEST(CopyRows, OnThreads) {
  for (const int64_t row_bytes : {4, 64, 256, 1000, 1024}) {
    for (const int threads : {0, 2, 3}) {
      EXPECT_EQ(difference(row_bytes, (int64_t{4} << 20) / row_bytes, 0, kSmall, threads), "");
      EXPECT_EQ(difference(row_bytes, (int64_t{4} << 20) / row_bytes, 0, kLarge, threads), "");
    }
  }
}

}  // namespace
}  // namespace sheaf

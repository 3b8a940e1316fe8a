// SPDX-License-Identifier: MIT
#include "embedding.h"

#include <gtest/gtest.h>

namespace sheaf::cli {
namespace {

TEST(Embedding, MovesWholeRowsAndChecksThem) {
  const EmbeddingReport report = run_embedding((1 << 20) + 100);
  EXPECT_EQ(report.row_bytes, 512);
  EXPECT_EQ(report.rows, 2048);
  EXPECT_EQ(report.lookups, 2048);
  EXPECT_EQ(report.bytes_moved, 1 << 20);
  EXPECT_EQ(report.trouble, "");
  EXPECT_GT(report.gather_seconds, 0);
  EXPECT_GT(report.copy_seconds, 0);
  EXPECT_FALSE(report.kernel.empty());
}

}  // namespace
}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
#include "machine/embedding.h"

#include <gtest/gtest.h>

#include "helpers/refusal.h"
#include "machine/machine.h"

namespace sheaf::cli {
namespace {

TEST(Embedding, RefusesATableThatFillsTheMachine) {
  const std::string text = refusal([] { run_embedding(memory_bytes()); }, ErrorCode::kOutOfMemory);
  EXPECT_TRUE(text.starts_with("demo: the table is too large\n")) << text;
}

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

// SPDX-License-Identifier: MIT
//
// What docs/files.md shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "io/scratch.h"

namespace {

TEST(FilesExample, LooksUpRows) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  std::vector<float> values(100);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::string path = scratch.path("model.safetensors");
  sheaf::save(path, "embed_tokens.weight", sheaf::view(values, {50, 2}));
  const std::vector<int64_t> ids = {17, 3, 42};
  // [example files-cpp]
  const sheaf::Table embed = sheaf::open_table(path, "embed_tokens.weight");
  const sheaf::Array rows = sheaf::gather(embed, sheaf::view(ids));
  // [/example]
  EXPECT_THAT(rows.elements<float>(), testing::ElementsAre(34, 35, 6, 7, 84, 85));
}

}  // namespace

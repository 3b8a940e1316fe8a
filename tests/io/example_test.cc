// SPDX-License-Identifier: MIT
//
// What docs/files.md shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "io/gguf_bytes.h"
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

TEST(FilesExample, DecodesRowsOfGguf) {
  const Scratch scratch;
  GgufParts parts;
  parts.tensors = {gguf_tensor("token_embd.weight", {32, 50}, kGgufQ8_0, 0)};
  for (int row = 0; row < 50; ++row) {
    parts.data += little(0x3C00, 2) + std::string(32, static_cast<char>(row));
  }
  const std::string path = scratch.write("model.gguf", gguf_file(parts));
  const std::vector<int64_t> ids = {17, 3, 42};
  // [example files-gguf-cpp]
  const sheaf::Table embed = sheaf::open_table(path, "token_embd.weight");
  const sheaf::Array rows = sheaf::gather_encoded(embed, sheaf::view(ids));  // f32
  const sheaf::Array blocks = sheaf::gather(embed, sheaf::view(ids));        // u8, as stored
  // [/example]
  EXPECT_EQ(rows.elements<float>()[64], 42);
  EXPECT_EQ(blocks.spec().str(), "u8[3, 34]");
}

}  // namespace

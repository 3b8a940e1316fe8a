// SPDX-License-Identifier: MIT
//
// Where the bytes of a table come from, and what a File holds.
#pragma once

#include <optional>
#include <vector>

#include "io/open_file.h"
#include "io/packed_elements.h"
#include "sheaf/io.h"

namespace sheaf {

namespace tables {
class ShardedRows;  // tables/sharded_rows.h
class WrittenRows;  // tables/written_rows.h
}  // namespace tables

// One of seven: bytes in a file (plain), a deflated part of a file, packed elements, bytes in
// memory, the caller's host memory, memory of a device, or parts on several ranks.
struct TableSource {
  io::FilePointer file;  // null: in memory
  // All files that were opened together: a model, its shards, its external data.
  std::shared_ptr<const std::vector<io::FilePointer>> family;
  int64_t offset = 0;  // of the table, or of the deflated stream

  struct Deflated {
    int64_t stream_bytes = 0;  // in the file
    int64_t skipped = 0;       // bytes of the stream before the table, when inflated
  };
  std::optional<Deflated> deflated;
  // Of elements of less than a byte that stand packed in the file, and one to a byte in the table.
  std::optional<io::PackedElements> packed;
  bool has_checksum = false;  // in the file, over the bytes of the table
  std::vector<std::byte> bytes;
  // The caller's, instead of `bytes`: `held` lives as long as it.
  struct Memory {
    const std::byte* data = nullptr;
    std::shared_ptr<const void> held;
    std::string device = {};  // empty: the host's
    // Of memory that scatters may write to; null for all other.
    std::shared_ptr<tables::WrittenRows> writes = nullptr;
  };
  std::optional<Memory> memory;
  std::shared_ptr<tables::ShardedRows> shards;  // null: all of it is in reach of this process

  const std::byte* host_bytes() const { return memory ? memory->data : bytes.data(); }
  bool is_plain() const { return file && !deflated && !packed; }
  bool can_be_changed_in_place() const { return is_plain() && !has_checksum; }
};

struct File::Contents {
  FileFormat format = FileFormat::kRaw;
  std::string path;
  std::vector<TableInfo> tensors;
  std::vector<std::shared_ptr<const TableSource>> sources;  // null where unsupported
  std::map<std::string, std::string> metadata;
  std::shared_ptr<std::vector<io::FilePointer>> family =
      std::make_shared<std::vector<io::FilePointer>>();

  void add(TableInfo info, TableSource source);
};

namespace io {

// What a file is too large or too small to hold. `spec` has been read from a header.
// Returns its bytes; refuses a shape whose size leaves int64.
int64_t checked_bytes(const std::string& path, const std::string& name, DType dtype,
                      const std::vector<int64_t>& shape);

// Sizes from a header as Dims: refuses a rank above kMaxRank and negative sizes.
Dims checked_sizes(const std::string& path, const std::string& name,
                   const std::vector<int64_t>& shape);

// Adds a plain tensor after checking that it lies inside its file.
void add_plain(File::Contents& contents, FilePointer file, TableInfo info,
               bool has_checksum = false);

// The readers. Each reads headers only and throws FileError on anything out of the ordinary.
void read_npy(File::Contents& contents, const FilePointer& file);
void read_npz(File::Contents& contents, const FilePointer& file);
void read_safetensors(File::Contents& contents, const FilePointer& file);
void read_safetensors_index(File::Contents& contents, const FilePointer& file);
void read_onnx(File::Contents& contents, const FilePointer& file);
void read_gguf(File::Contents& contents, const FilePointer& file);

// The file that `name` in `model` stands for: beside it, never outside its folder.
std::string beside(const OpenFile& model, const std::string& name);

}  // namespace io
}  // namespace sheaf

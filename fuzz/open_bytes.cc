// SPDX-License-Identifier: MIT
#include "open_bytes.h"

#include <sheaf/sheaf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "folder.h"
#include "input.h"

namespace fuzz {
namespace {

using namespace sheaf;

// Larger tensors are described, but not read: an input of bytes must not cost seconds.
constexpr int64_t kMaxRead = 4 << 20;
// What is put behind the input, so that a header may describe more than one wave of blocks.
constexpr int64_t kTail = 600'000;
const FileOptions kSmall{.memory = 1 << 20};  // a wave has 64 blocks

// Types may differ in name: bfloat16 is opaque in .npy.
bool same_bytes(const Array& a, const Array& b) {
  const auto bytes = static_cast<size_t>(element_count(a.sizes()) * a.spec().dtype.bytes());
  return a.sizes() == b.sizes() && a.spec().dtype.bytes() == b.spec().dtype.bytes() &&
         (bytes == 0 || std::memcmp(a.tensor().data, b.tensor().data, bytes) == 0);
}

// Rows from front to back and two again: all waves, and in no order. Few of wide rows, each element
// of which may be an update of its own.
std::vector<int64_t> rows_of(const Table& table) {
  const int64_t entries = table.spec().sizes[0];
  const int64_t most =
      std::max<int64_t>((int64_t{1} << 20) / (table.info().bytes / entries + 1), 1);
  const int64_t count = std::min<int64_t>({200, entries, most});
  std::vector<int64_t> rows = {0, -1, entries / 2, 0};
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(entries / count * i);
  }
  return rows;
}

// The same as on the loaded tensor: a gather, a scatter into a new file, and one in place.
void move_rows(const Table& table, const Array& loaded, const std::string& out) {
  const std::vector<int64_t> rows = rows_of(table);
  const Array expected = gather(loaded.tensor(), view(rows));
  require(same_bytes(gather(table, view(rows), {}, kSmall), expected), "a gather from a file");
  const Array scattered = scatter(loaded.tensor(), view(rows), expected.tensor());
  const Plan plan = plan_scatter(table.spec(), {i64, {std::ssize(rows)}}, expected.spec());
  run_scatter_to_file(plan, table, view(rows), expected.tensor(), out, kSmall);
  require(same_bytes(open_table(out).load(), scattered), "a scatter into a new file");
  unlink(out.c_str());
  if (table.info().storage == "plain") {
    try {
      scatter(table, view(rows), expected.tensor(), {}, kSmall);
      require(same_bytes(table.load(), scattered), "a scatter in place");
    } catch (const FileError&) {
      // A member of .npz has a checksum.
    }
  }
}

// The same as on the stored rows in memory, fill values between them; and nothing is written.
void decode_rows(const Table& table, const Array& loaded) {
  std::vector<int64_t> rows = rows_of(table);
  rows.push_back(INT64_MAX);
  const GatherOptions options{.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 1}};
  const Encoded stored(table.info().encoded, loaded.tensor().data);
  for (const DType type : {f32, f16}) {
    const Array expected = gather_encoded(stored, view(rows), options, type);
    require(same_bytes(gather_encoded(table, view(rows), options, type, kSmall), expected),
            "a decoding gather from a file");
  }
  require(same_bytes(gather(table, view(rows), options, kSmall),
                     gather(loaded.tensor(), view(rows), options)),
          "a gather of stored rows");
}

void look_at(const File& file, const TableInfo& info, const std::string& out) {
  if (!info.unsupported.empty() || info.bytes > kMaxRead) {
    return;
  }
  const Table table = file.table(info.name);
  const Array loaded = table.load();
  if (table.spec().rank() > 0 && table.spec().sizes[0] > 0 && info.bytes > 0) {
    try {
      if (info.encoded.encoding != Encoding::kPlain) {
        decode_rows(table, loaded);
      } else {
        move_rows(table, loaded, out);
      }
    } catch (const FileError&) {
      throw;
    } catch (const Error& error) {
      // The file is sound; so many rows of it may be more than a tensor can have.
      require(error.refusal().cause.reason == Reason::kTooLarge, "a sound file is read");
    }
  }
}

void write_file(const std::string& path, const uint8_t* bytes, size_t count, int64_t tail) {
  std::FILE* out = std::fopen(path.c_str(), "wb");
  if (out == nullptr) {
    abort();
  }
  std::fwrite(bytes, 1, count, out);
  std::fclose(out);
  require(tail == 0 || truncate(path.c_str(), static_cast<int64_t>(count) + tail) == 0, "a tail");
}

}  // namespace

void open_bytes(const char* name, const uint8_t* bytes, size_t count) {
  static const Folder folder;
  const std::string path = folder.file(name);
  for (const int64_t tail : {int64_t{0}, kTail}) {
    write_file(path, bytes, count, tail);
    try {
      const File file(path);
      for (const TableInfo& info : file.tensors()) {
        try {
          look_at(file, info, folder.file("out.npy"));
        } catch (const FileError&) {
          // Another tensor of the same file may be whole.
        }
      }
    } catch (const FileError&) {
    }
  }
}

}  // namespace fuzz

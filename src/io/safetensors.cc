// SPDX-License-Identifier: MIT
//
// .safetensors: the length of a header (8 bytes), the header in JSON, then the tensors without
// gaps.
#include <algorithm>

#include "io/file_error.h"
#include "io/json_leaves.h"
#include "io/safetensors.h"
#include "io/source.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// The limit of the format's own library.
constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsType {
  const char* name;
  DType type;
};
constexpr SafetensorsType kSafetensorsTypes[] = {
    {"BOOL", boolean}, {"U8", u8},   {"I8", i8},          {"U16", u16},
    {"I16", i16},      {"U32", u32}, {"I32", i32},        {"U64", u64},
    {"I64", i64},      {"F16", f16}, {"BF16", bf16},      {"F32", f32},
    {"F64", f64},      {"C64", c64}, {"F8_E4M3", f8e4m3}, {"F8_E5M2", f8e5m2},
};

[[noreturn]] void malformed_safetensors(const OpenFile& file, const std::string& detail) {
  refuse_file(file.path(), "malformed .safetensors", detail,
              "a file written by the safetensors library");
}

// A tensor as its header describes it.
struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape, offsets;
  bool has_shape = false;
};

class Header {
 public:
  Header(const OpenFile& file, std::map<std::string, std::string>& metadata)
      : file_(file), metadata_(metadata) {}

  void leaf(const JsonLeaf& leaf) {
    if (leaf.keys.size() != 2) {
      malformed_safetensors(file_, "a tensor is not described by an object");
    }
    if (leaf.keys[0] == "__metadata__") {
      if (leaf.text == nullptr || leaf.position >= 0) {
        malformed_safetensors(file_, cat("metadata \"", leaf.keys[1], "\" is not a text"));
      }
      metadata_[leaf.keys[1]] = *leaf.text;
      return;
    }
    Entry& entry = entry_of(leaf.keys[0]);
    const std::string& key = leaf.keys[1];
    if (key == "dtype" && leaf.text != nullptr && leaf.position < 0) {
      entry.dtype = *leaf.text;
    } else if (key == "shape" && leaf.text == nullptr && leaf.position >= 0) {
      entry.shape.push_back(leaf.number);
      entry.has_shape = true;
    } else if (key == "data_offsets" && leaf.text == nullptr && leaf.position >= 0) {
      entry.offsets.push_back(leaf.number);
    } else {
      malformed_safetensors(file_,
                            cat("\"", key, "\" of \"", entry.name, "\" is not what it should be"));
    }
  }

  void empty(const std::vector<std::string>& keys) {
    if (keys.size() == 2 && keys[1] == "shape" && keys[0] != "__metadata__") {
      entry_of(keys[0]).has_shape = true;  // rank 0
    } else if (!(keys.empty() || (keys.size() == 1 && keys[0] == "__metadata__"))) {
      malformed_safetensors(file_, cat("\"", keys.back(), "\" is empty"));
    }
  }

  std::vector<Entry>& entries() { return entries_; }

 private:
  // Leaves of one tensor follow each other: the parser refuses a name that occurs twice.
  Entry& entry_of(const std::string& name) {
    if (entries_.empty() || entries_.back().name != name) {
      entries_.push_back({name, {}, {}, {}, false});
    }
    return entries_.back();
  }

  const OpenFile& file_;
  std::map<std::string, std::string>& metadata_;
  std::vector<Entry> entries_;
};

void add_entry(File::Contents& contents, const FilePointer& file, const Entry& entry,
               int64_t data_start) {
  if (entry.dtype.empty() || !entry.has_shape || entry.offsets.size() != 2) {
    malformed_safetensors(*file, cat("\"", entry.name, "\" lacks dtype, shape or data_offsets"));
  }
  TableInfo info;
  info.name = entry.name;
  info.path = file->path();
  info.bytes = entry.offsets[1] - entry.offsets[0];
  info.offset = data_start + entry.offsets[0];
  const auto* type = std::find_if(std::begin(kSafetensorsTypes), std::end(kSafetensorsTypes),
                                  [&](const SafetensorsType& t) { return entry.dtype == t.name; });
  if (type == std::end(kSafetensorsTypes)) {
    info.unsupported = cat("type ", entry.dtype, " is unknown");
    contents.add(std::move(info), {});
    return;
  }
  const int64_t bytes = checked_bytes(file->path(), entry.name, type->type, entry.shape);
  info.spec = TensorSpec(type->type, checked_sizes(file->path(), entry.name, entry.shape));
  if (bytes != info.bytes) {
    malformed_safetensors(*file, cat("\"", entry.name, "\" has ", info.bytes, " bytes, but ",
                                     info.spec.str(), " needs ", bytes));
  }
  add_plain(contents, file, std::move(info));
}

// The tensors cover everything behind the header, each byte once.
void check_cover(const OpenFile& file, const std::vector<Entry>& entries, int64_t data_bytes) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Entry& entry : entries) {
    if (entry.offsets.size() == 2) {
      ranges.emplace_back(entry.offsets[0], entry.offsets[1]);
    }
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t end = 0;
  for (const auto& [begin, stop] : ranges) {
    if (begin != end || stop < begin || stop > data_bytes) {
      malformed_safetensors(
          file, cat("data_offsets ", begin, " to ", stop, " after ", end,
                    ": tensors overlap, leave a gap or leave the ", data_bytes, " bytes of data"));
    }
    end = stop;
  }
  if (end != data_bytes) {
    malformed_safetensors(file,
                          cat("its tensors end at ", end, " of ", data_bytes, " bytes of data"));
  }
}

}  // namespace

const char* safetensors_type(DType type) {
  const auto* found = std::find_if(std::begin(kSafetensorsTypes), std::end(kSafetensorsTypes),
                                   [&](const SafetensorsType& t) { return t.type == type; });
  return found == std::end(kSafetensorsTypes) ? nullptr : found->name;
}

void read_safetensors(File::Contents& contents, const FilePointer& file) {
  unsigned char raw[8];
  file->read(0, raw, sizeof raw);
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) {
    length = length << 8 | raw[i];
  }
  const int64_t room = std::min(file->size() - 8, kMaxSafetensorsHeader);
  if (length > static_cast<uint64_t>(room)) {
    malformed_safetensors(
        *file, cat("its header claims ", length, " bytes, at most ", room, " are possible"));
  }
  const auto header_bytes = static_cast<int64_t>(length);
  const std::string text = file->text(8, header_bytes);
  if (!text.starts_with("{")) {
    malformed_safetensors(*file, "its header is not a JSON object");
  }
  Header header(*file, contents.metadata);
  parse_json(
      file->path(), text, [&](const JsonLeaf& leaf) { header.leaf(leaf); },
      [&](const std::vector<std::string>& keys) { header.empty(keys); });
  const int64_t data_start = 8 + header_bytes;
  check_cover(*file, header.entries(), file->size() - data_start);
  for (const Entry& entry : header.entries()) {
    add_entry(contents, file, entry, data_start);
  }
}

}  // namespace sheaf::io

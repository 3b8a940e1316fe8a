// SPDX-License-Identifier: MIT
//
// .gguf: a header of counts, metadata, and a description of each tensor; then the tensors, each at
// a multiple of the alignment. Sizes stand in the order of strides, the innermost first.
#include <algorithm>
#include <set>

#include "io/file_error.h"
#include "io/gguf_cursor.h"
#include "io/source.h"
#include "plan/decode.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr uint64_t kUsualAlignment = 32;
// What a description takes up at least: the length of a name, the number of sizes, type, offset;
// and the length of a key, a type, a value.
constexpr int64_t kLeastTensor = 8 + 4 + 4 + 8, kLeastMetadata = 8 + 4 + 1;

// A plain type, an encoding, or neither: then its tensors are listed only.
struct GgufType {
  const char* name;
  uint32_t number;
  DType type = u8;
  Encoding encoding = Encoding::kPlain;
  bool is_plain = false;
};
constexpr GgufType plain_type(const char* name, uint32_t number, DType type) {
  return {name, number, type, Encoding::kPlain, true};
}
constexpr GgufType kGgufTypes[] = {
    plain_type("F32", 0, f32),
    plain_type("F16", 1, f16),
    plain_type("I8", 24, i8),
    plain_type("I16", 25, i16),
    plain_type("I32", 26, i32),
    plain_type("I64", 27, i64),
    plain_type("F64", 28, f64),
    plain_type("BF16", 30, bf16),
    {"Q4_0", 2, u8, Encoding::kQ4_0},
    {"Q4_1", 3, u8, Encoding::kQ4_1},
    {"Q5_0", 6, u8, Encoding::kQ5_0},
    {"Q5_1", 7, u8, Encoding::kQ5_1},
    {"Q8_0", 8, u8, Encoding::kQ8_0},
    {"Q4_K", 12, u8, Encoding::kQ4K},
    {"Q5_K", 13, u8, Encoding::kQ5K},
    {"Q6_K", 14, u8, Encoding::kQ6K},
    {"Q8_1", 9},
    {"Q2_K", 10},
    {"Q3_K", 11},
    {"Q8_K", 15},
    {"IQ2_XXS", 16},
    {"IQ2_XS", 17},
    {"IQ3_XXS", 18},
    {"IQ1_S", 19},
    {"IQ4_NL", 20},
    {"IQ3_S", 21},
    {"IQ2_S", 22},
    {"IQ4_XS", 23},
    {"IQ1_M", 29},
    {"TQ1_0", 34},
    {"TQ2_0", 35},
    {"MXFP4", 39},
    {"NVFP4", 40},
    {"Q1_0", 41},
};

// A tensor as the header describes it.
struct GgufTensor {
  std::string name;
  std::vector<int64_t> sizes;  // outermost first
  uint64_t type = 0;
  int64_t offset = 0;  // behind the header
};

class GgufReader {
 public:
  GgufReader(File::Contents& contents, const FilePointer& file)
      : contents_(contents), file_(file), cursor_(*file) {}

  void read() {
    cursor_.number(4);  // the format was told by these
    check_version(cursor_.number(4));
    const int64_t tensors = cursor_.count("tensors", kLeastTensor);
    const int64_t pairs = cursor_.count("pairs of metadata", kLeastMetadata);
    for (int64_t i = 0; i < pairs; ++i) {
      read_pair();
    }
    std::vector<GgufTensor> described;
    for (int64_t i = 0; i < tensors; ++i) {
      described.push_back(read_tensor());
    }
    set_data_start(tensors);
    for (const GgufTensor& tensor : described) {
      add(tensor);
    }
    check_overlaps();
  }

 private:
  void check_version(uint64_t version) const {
    if (version != 0 && version % 65536 == 0) {
      refuse_file(file_->path(), "big-endian .gguf",
                  "its version stands in the other order of bytes", "a little-endian file");
    }
    if (version != 2 && version != 3) {
      refuse_file(file_->path(), "unknown version",
                  cat("version ", version, " of .gguf, but 2 and 3 are known"),
                  "a file converted by a current llama.cpp");
    }
  }

  void read_pair() {
    std::string key = cursor_.text("a key");
    const uint64_t type = cursor_.number(4);
    std::string value = cursor_.value_of(type);
    if (key == "general.alignment") {
      read_alignment(type, value);
    }
    const auto [entry, is_new] = contents_.metadata.emplace(std::move(key), std::move(value));
    if (!is_new) {
      malformed_gguf(*file_, cat("key \"", entry->first, "\" occurs twice"));
    }
  }

  void read_alignment(uint64_t type, const std::string& value) {
    constexpr uint64_t kU32 = 4;
    alignment_ = type == kU32 ? std::stoull(value) : 0;
    if (alignment_ < 8 || (alignment_ & (alignment_ - 1)) != 0) {
      malformed_gguf(*file_, cat("general.alignment is ", value,
                                 ", but a u32 that is a power of two from 8 on is needed"));
    }
  }

  GgufTensor read_tensor() {
    GgufTensor tensor;
    tensor.name = cursor_.text("a tensor's name");
    if (!names_.insert(tensor.name).second) {
      malformed_gguf(*file_, cat("tensor \"", tensor.name, "\" occurs twice"));
    }
    const uint64_t rank = cursor_.number(4);
    if (rank > static_cast<uint64_t>(kMaxRank)) {
      malformed_gguf(*file_, cat("\"", tensor.name, "\" has ", rank, " dimensions, at most ",
                                 kMaxRank, " are possible"));
    }
    for (uint64_t d = 0; d < rank; ++d) {
      tensor.sizes.push_back(signed_number(tensor.name, "a size"));
    }
    std::reverse(tensor.sizes.begin(), tensor.sizes.end());
    tensor.type = cursor_.number(4);
    tensor.offset = signed_number(tensor.name, "the offset");
    return tensor;
  }

  int64_t signed_number(const std::string& name, const char* what) {
    const uint64_t value = cursor_.number(8);
    if (value > static_cast<uint64_t>(INT64_MAX)) {
      malformed_gguf(*file_, cat(what, " of \"", name, "\" is ", value));
    }
    return static_cast<int64_t>(value);
  }

  // The alignment is at most 2^31, and the header lies inside the file: nothing overflows.
  void set_data_start(int64_t tensors) {
    const auto alignment = static_cast<int64_t>(alignment_);
    data_start_ = (cursor_.position() + alignment - 1) / alignment * alignment;
    if (tensors > 0 && data_start_ > file_->size()) {
      malformed_gguf(*file_, cat("its tensors begin at ", data_start_, ", but the file has ",
                                 file_->size(), " bytes"));
    }
  }

  void add(const GgufTensor& tensor) {
    TableInfo info;
    info.name = tensor.name;
    info.path = file_->path();
    const std::optional<int64_t> offset = checked_add(data_start_, tensor.offset);
    if (tensor.offset % static_cast<int64_t>(alignment_) != 0 || !offset) {
      malformed_gguf(*file_, cat("\"", tensor.name, "\" lies at ", tensor.offset,
                                 ", no multiple of the alignment, ", alignment_));
    }
    info.offset = *offset;
    const auto* type = std::find_if(std::begin(kGgufTypes), std::end(kGgufTypes),
                                    [&](const GgufType& t) { return t.number == tensor.type; });
    const bool known = type != std::end(kGgufTypes);
    if (known && type->is_plain) {
      info.bytes = checked_bytes(file_->path(), tensor.name, type->type, tensor.sizes);
      info.spec = TensorSpec(type->type, checked_sizes(file_->path(), tensor.name, tensor.sizes));
      add_plain(contents_, file_, std::move(info));
    } else if (known && type->encoding != Encoding::kPlain) {
      add_blocks(tensor, *type, std::move(info));
    } else {
      info.unsupported = known ? cat("type ", type->name, " is not decoded")
                               : cat("type ", tensor.type, " is unknown");
      contents_.add(std::move(info), {});
    }
  }

  void add_blocks(const GgufTensor& tensor, const GgufType& type, TableInfo info) {
    const BlockShape block = block_shape(type.encoding);
    if (tensor.sizes.empty() || tensor.sizes.back() % block.elements != 0) {
      malformed_gguf(*file_, cat("rows of \"", tensor.name, "\" are not whole blocks of ",
                                 block.elements, " elements (", type.name, ")"));
    }
    checked_bytes(file_->path(), tensor.name, f32, tensor.sizes);  // also when it is decoded
    std::vector<int64_t> stored = tensor.sizes;
    stored.back() = stored.back() / block.elements * block.bytes;
    info.bytes = checked_bytes(file_->path(), tensor.name, u8, stored);
    info.spec = TensorSpec(u8, Dims(std::span<const int64_t>(stored)));
    info.encoded = encoded_rows(type.encoding, Dims(std::span<const int64_t>(tensor.sizes)));
    add_plain(contents_, file_, std::move(info));
  }

  // Two names for the same bytes: a scatter into one would change the other.
  void check_overlaps() const {
    std::vector<const TableInfo*> infos;
    for (const TableInfo& info : contents_.tensors) {
      if (info.bytes > 0) {
        infos.push_back(&info);
      }
    }
    std::sort(infos.begin(), infos.end(),
              [](const TableInfo* a, const TableInfo* b) { return a->offset < b->offset; });
    for (size_t i = 1; i < infos.size(); ++i) {
      if (infos[i]->offset - infos[i - 1]->offset < infos[i - 1]->bytes) {
        malformed_gguf(*file_, cat("\"", infos[i - 1]->name, "\" and \"", infos[i]->name,
                                   "\" overlap at ", infos[i]->offset));
      }
    }
  }

  File::Contents& contents_;
  const FilePointer& file_;
  GgufCursor cursor_;
  std::set<std::string> names_;
  uint64_t alignment_ = kUsualAlignment;
  int64_t data_start_ = 0;
};

}  // namespace

void read_gguf(File::Contents& contents, const FilePointer& file) {
  GgufReader(contents, file).read();
}

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "io/file_error.h"
#include "io/source.h"
#include "support/checked.h"
#include "support/text.h"
#include "support/utf8.h"

namespace sheaf {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Content first, where it is beyond doubt; safetensors and ONNX have no magic number.
FileFormat detect(const io::OpenFile& file) {
  const std::string head = file.text(0, std::min<int64_t>(file.size(), 9));
  if (head.starts_with("\x93NUMPY")) {
    return FileFormat::kNpy;
  }
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    return FileFormat::kNpz;
  }
  if (head.starts_with("GGUF")) {
    return FileFormat::kGguf;
  }
  if (ends_with(file.path(), ".onnx") || ends_with(file.path(), ".pb")) {
    return FileFormat::kOnnx;
  }
  const bool json = !head.empty() && head[0] == '{' && ends_with(file.path(), ".json");
  if (json || ends_with(file.path(), ".safetensors") || (head.size() == 9 && head[8] == '{')) {
    return FileFormat::kSafetensors;
  }
  io::refuse_file(file.path(), "unknown format",
                  "neither .npy, .npz, .safetensors, .onnx nor .gguf, by its content and its name",
                  "name type and shape of a raw file: open_raw(path, {f32, {1000, 64}}), or "
                  "FILE:f32[1000,64] on the command line");
}

std::string names_of(const File::Contents& contents) {
  std::string names;
  for (size_t i = 0; i < contents.tensors.size() && i < 8; ++i) {
    names += (i == 0 ? "" : ", ") + contents.tensors[i].name;
  }
  return contents.tensors.size() > 8 ? names + ", …" : names;
}

}  // namespace

std::string_view to_string(FileFormat format) {
  switch (format) {
    case FileFormat::kNpy: return "npy";
    case FileFormat::kNpz: return "npz";
    case FileFormat::kSafetensors: return "safetensors";
    case FileFormat::kOnnx: return "onnx";
    case FileFormat::kRaw: return "raw";
    case FileFormat::kGguf: return "gguf";
  }
  return "";
}

void File::Contents::add(TableInfo info, TableSource source) {
  if (!is_utf8(info.name)) {
    io::refuse_file(path.empty() ? info.path : path, "a name is not UTF-8",
                    cat("tensor \"", info.name, "\""),
                    "a file whose names other programs can read");
  }
  if (source.file && std::find(family->begin(), family->end(), source.file) == family->end()) {
    family->push_back(source.file);
  }
  source.family = family;
  sources.push_back(
      info.unsupported.empty() ? std::make_shared<const TableSource>(std::move(source)) : nullptr);
  tensors.push_back(std::move(info));
}

File::File(const std::string& path) {
  const auto file = std::make_shared<io::OpenFile>(path);
  auto contents = std::make_shared<Contents>();
  contents->path = path;
  contents->family->push_back(file);
  contents->format = detect(*file);
  switch (contents->format) {
    case FileFormat::kNpy: io::read_npy(*contents, file); break;
    case FileFormat::kNpz: io::read_npz(*contents, file); break;
    case FileFormat::kOnnx: io::read_onnx(*contents, file); break;
    case FileFormat::kGguf: io::read_gguf(*contents, file); break;
    default:
      if (ends_with(path, ".json")) {
        io::read_safetensors_index(*contents, file);
      } else {
        io::read_safetensors(*contents, file);
      }
  }
  contents_ = std::move(contents);
}

FileFormat File::format() const { return contents_->format; }
const std::string& File::path() const { return contents_->path; }
const std::vector<TableInfo>& File::tensors() const { return contents_->tensors; }
const std::map<std::string, std::string>& File::metadata() const { return contents_->metadata; }

Table File::table(const std::string& name) const {
  const auto& tensors = contents_->tensors;
  if (name.empty() && tensors.size() != 1) {
    io::refuse_file(path(), "no tensor named",
                    cat("the file has ", tensors.size(), " tensors: ", names_of(*contents_)),
                    "FILE:NAME, or open_table(path, name)");
  }
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TableInfo& info) {
    return name.empty() || info.name == name;
  });
  if (found == tensors.end()) {
    io::refuse_file(path(), "no such tensor",
                    cat("\"", name, "\" is not one of ", tensors.size(),
                        tensors.empty() ? "" : ": " + names_of(*contents_)),
                    "sheaf inspect lists the tensors of a file");
  }
  if (!found->unsupported.empty()) {
    io::refuse_file(path(), "tensor cannot be opened",
                    cat("\"", found->name, "\": ", found->unsupported),
                    "a file with this tensor in another type");
  }
  return {*found, contents_->sources[static_cast<size_t>(found - tensors.begin())]};
}

Table open_table(const std::string& path, const std::string& name) {
  return File(path).table(name);
}

Table open_raw(const std::string& path, const TensorSpec& spec, int64_t offset) {
  File::Contents contents;
  auto file = std::make_shared<io::OpenFile>(path);
  TableInfo info;
  info.spec = TensorSpec(spec.dtype, spec.sizes);
  info.offset = offset;
  info.bytes = io::checked_bytes(path, "", spec.dtype, {spec.sizes.begin(), spec.sizes.end()});
  io::add_plain(contents, std::move(file), info);
  return {contents.tensors[0], contents.sources[0]};
}

namespace io {

Dims checked_sizes(const std::string& path, const std::string& name,
                   const std::vector<int64_t>& shape) {
  const bool negative = std::any_of(shape.begin(), shape.end(), [](int64_t s) { return s < 0; });
  if (negative || shape.size() > static_cast<size_t>(kMaxRank)) {
    refuse_file(path, "impossible shape",
                negative ? cat("a size of \"", name, "\" is negative")
                         : cat("\"", name, "\" has ", shape.size(), " dimensions, at most ",
                               kMaxRank, " are possible"),
                "a file that another program can read too");
  }
  return Dims(std::span<const int64_t>(shape));
}

int64_t checked_bytes(const std::string& path, const std::string& name, DType dtype,
                      const std::vector<int64_t>& shape) {
  const Dims sizes = checked_sizes(path, name, shape);
  // The same rule as element_count(): also with a zero among the sizes, no product may leave int64.
  std::optional<int64_t> product = dtype.bytes();
  bool empty = false;
  for (const int64_t size : sizes) {
    empty = empty || size == 0;
    product = product ? checked_mul(*product, std::max<int64_t>(size, 1)) : product;
  }
  if (!product) {
    refuse_file(path, "impossible shape",
                cat("the size of \"", name, "\", ", dtype.name(), bracketed(sizes),
                    ", does not fit into 64 bits"),
                "a file that another program can read too");
  }
  return empty ? 0 : *product;
}

void add_plain(File::Contents& contents, FilePointer file, TableInfo info, bool has_checksum) {
  if (info.offset < 0 || info.bytes > file->size() - info.offset) {
    refuse_file(file->path(), "tensor outside its file",
                cat("\"", info.name, "\" has ", info.bytes, " bytes at ", info.offset,
                    ", but the file has ", file->size()),
                "a complete copy of the file");
  }
  info.path = file->path();
  info.storage = "plain";
  TableSource source;
  source.offset = info.offset;
  source.has_checksum = has_checksum;
  source.file = std::move(file);
  contents.add(std::move(info), std::move(source));
}

std::string beside(const OpenFile& model, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path given(name);
  const bool steps_out =
      std::any_of(given.begin(), given.end(), [](const fs::path& part) { return part == ".."; });
  const char* next = "keep a model and its data in one folder";
  if (name.empty() || name.find('\0') != std::string::npos || given.is_absolute() || steps_out) {
    refuse_file(model.path(), "reference outside the model's folder",
                cat("it names \"", name, "\"; only files below its own folder are opened"), next);
  }
  std::error_code error;
  fs::path folder = fs::path(model.path()).parent_path();
  const fs::path path = folder / given;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    fail_file(path.string(), "open", error.value());
  }
  if (folder.empty()) {
    folder = ".";
  }
  // Model stores keep links to a folder of contents: what lies beside the link's target is fine.
  const fs::path homes[] = {fs::canonical(folder, error),
                            fs::canonical(model.path(), error).parent_path()};
  for (const fs::path& home : homes) {
    const fs::path inside = real.lexically_relative(home);
    if (!home.empty() && !inside.empty() && *inside.begin() != "..") {
      return path.string();
    }
  }
  refuse_file(model.path(), "reference outside the model's folder",
              cat("\"", name, "\" is a link to ", real.string()), next);
}

}  // namespace io
}  // namespace sheaf

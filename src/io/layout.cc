// SPDX-License-Identifier: MIT
#include "io/layout.h"

#include <algorithm>
#include <numeric>

#include "io/file_error.h"
#include "io/inflate.h"
#include "io/json_leaves.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

FileLayout single(const std::string& path, FileFormat format,
                  const std::vector<NamedSpec>& tensors) {
  if (tensors.size() != 1) {
    refuse_file(path, "one tensor only",
                cat("a ", format == FileFormat::kNpy ? ".npy" : "raw",
                    " file holds one tensor, but there are ", tensors.size()),
                "choose one by FILE:NAME, or write .npz or .safetensors");
  }
  FileLayout layout;
  std::string header = format == FileFormat::kNpy ? npy_header(tensors[0].spec) : "";
  layout.data_offsets = {std::ssize(header)};
  layout.bytes = add_bytes(path, std::ssize(header), data_bytes(tensors[0].spec));
  layout.pieces.push_back({0, std::move(header)});
  return layout;
}

std::string entry_json(const NamedSpec& tensor, const char* type, int64_t begin, int64_t end) {
  std::string shape;
  for (const int64_t size : tensor.spec.sizes) {
    shape += cat(shape.empty() ? "" : ",", size);
  }
  return cat(json_text(tensor.name), ":{\"dtype\":\"", type, "\",\"shape\":[", shape,
             "],\"data_offsets\":[", begin, ",", end, "]}");
}

FileLayout safetensors_layout(const std::string& path, const std::vector<NamedSpec>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::string json;
  for (const auto& [key, value] : metadata) {
    json += cat(json.empty() ? "" : ",", json_text(key), ":", json_text(value));
  }
  json = json.empty() ? "{" : cat("{\"__metadata__\":{", json, "}", tensors.empty() ? "" : ",");
  // Wide elements first: then every tensor is aligned to its elements.
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tensors[a].spec.dtype.bytes() > tensors[b].spec.dtype.bytes();
  });
  FileLayout layout;
  layout.data_offsets.resize(tensors.size());
  int64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const NamedSpec& tensor = tensors[order[i]];
    const char* type = safetensors_type(tensor.spec.dtype);
    if (type == nullptr) {
      refuse_file(path, "no such type in .safetensors",
                  cat("\"", tensor.name, "\" is ", tensor.spec.str()), ".npy or .npz");
    }
    const int64_t begin = end;
    end = add_bytes(path, begin, data_bytes(tensor.spec));
    json += cat(i == 0 ? "" : ",", entry_json(tensor, type, begin, end));
    layout.data_offsets[order[i]] = begin;
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string header;
  for (int i = 0; i < 8; ++i) {
    header += static_cast<char>(json.size() >> (8 * i));
  }
  header += json;
  layout.bytes = add_bytes(path, std::ssize(header), end);
  for (int64_t& offset : layout.data_offsets) {
    offset += std::ssize(header);
  }
  layout.pieces.push_back({0, std::move(header)});
  return layout;
}

}  // namespace

int64_t data_bytes(const TensorSpec& spec) {
  return element_count(spec.sizes) * spec.dtype.bytes();
}

FileFormat format_of_new_file(const std::string& path, const FileOptions& options) {
  if (options.format == FileFormat::kGguf || (!options.format && path.ends_with(".gguf"))) {
    refuse_file(path, ".gguf is only read", "no new file of this format is written",
                ".npy, .npz, .safetensors or .onnx");
  }
  if (options.format) {
    return *options.format;
  }
  for (const FileFormat format :
       {FileFormat::kNpy, FileFormat::kNpz, FileFormat::kSafetensors, FileFormat::kOnnx}) {
    if (path.ends_with(cat(".", to_string(format)))) {
      return format;
    }
  }
  if (!path.ends_with(".bin") && !path.ends_with(".raw")) {
    refuse_file(path, "unknown suffix",
                "a new file is .npy, .npz, .safetensors or .onnx; .bin and .raw hold bytes without "
                "a header",
                "one of these suffixes, or the option format, as in raw");
  }
  return FileFormat::kRaw;
}

int64_t add_bytes(const std::string& path, int64_t a, int64_t b) {
  const std::optional<int64_t> sum = checked_add(a, b);
  if (!sum) {
    refuse_file(path, "too large", "its size does not fit into 64 bits",
                "fewer or smaller tensors");
  }
  return *sum;
}

FileLayout layout_for(FileFormat format, const std::string& path,
                      const std::vector<NamedSpec>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  switch (format) {
    case FileFormat::kNpz: return npz_layout(path, tensors);
    case FileFormat::kSafetensors: return safetensors_layout(path, tensors, metadata);
    case FileFormat::kOnnx: return onnx_layout(path, tensors, metadata);
    default: return single(path, format, tensors);
  }
}

void begin_layout(NewFile& file, const FileLayout& layout) {
  file.resize(layout.bytes);
  for (const FileLayout::Piece& piece : layout.pieces) {
    file.write(piece.offset, piece.bytes.data(), std::ssize(piece.bytes));
  }
}

void finish_layout(NewFile& file, const FileLayout& layout) {
  std::vector<char> buffer(layout.checksums.empty() ? 0 : 1 << 18);
  for (const FileLayout::Checksum& checksum : layout.checksums) {
    uint32_t crc = 0;
    for (int64_t at = checksum.begin; at < checksum.end;) {
      const int64_t bytes = std::min(std::ssize(buffer), checksum.end - at);
      file.read(at, buffer.data(), bytes);
      crc = crc32_of(crc, buffer.data(), static_cast<size_t>(bytes));
      at += bytes;
    }
    const unsigned char little[] = {
        static_cast<unsigned char>(crc), static_cast<unsigned char>(crc >> 8),
        static_cast<unsigned char>(crc >> 16), static_cast<unsigned char>(crc >> 24)};
    for (const int64_t place : checksum.places) {
      file.write(place, little, sizeof little);
    }
  }
}

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
//
// Where everything goes in a file that is to be written: known before any data is moved, so that
// tensors can be written in any order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/new_file.h"
#include "sheaf/io.h"

namespace sheaf::io {

struct NamedSpec {
  std::string name;
  TensorSpec spec;  // written row-major, whatever its strides
};

struct FileLayout {
  struct Piece {
    int64_t offset;
    std::string bytes;
  };
  // A zip file holds the checksum of each member twice.
  struct Checksum {
    int64_t begin, end;
    int64_t places[2];
  };
  std::vector<Piece> pieces;          // all that is not data
  std::vector<int64_t> data_offsets;  // of each tensor
  std::vector<Checksum> checksums;
  int64_t bytes = 0;  // of the file
};

// The format of a new file: what the options say, else what the suffix says (.bin and .raw are
// raw). Refuses a suffix that says nothing.
FileFormat format_of_new_file(const std::string& path, const FileOptions& options);

// a + b bytes of the file `path`; refuses a sum that leaves int64.
int64_t add_bytes(const std::string& path, int64_t a, int64_t b);

// `path` is for errors: a type or a size that the format does not have.
FileLayout layout_for(FileFormat format, const std::string& path,
                      const std::vector<NamedSpec>& tensors,
                      const std::map<std::string, std::string>& metadata);

// Sizes the file and writes the pieces. After the data: finish() writes the checksums.
void begin_layout(NewFile& file, const FileLayout& layout);
void finish_layout(NewFile& file, const FileLayout& layout);

FileLayout npz_layout(const std::string& path, const std::vector<NamedSpec>& tensors);
FileLayout onnx_layout(const std::string& path, const std::vector<NamedSpec>& tensors,
                       const std::map<std::string, std::string>& metadata);

// The bytes of a spec's elements, which a Table or a plan has checked.
int64_t data_bytes(const TensorSpec& spec);

}  // namespace sheaf::io

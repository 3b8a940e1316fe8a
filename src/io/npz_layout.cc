// SPDX-License-Identifier: MIT
//
// A zip file of stored members, always in the zip64 form: one way of writing for every size.
#include "io/layout.h"
#include "io/npy.h"

namespace sheaf::io {
namespace {

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i));
  }
}

constexpr uint64_t kIn64 = 0xffffffff;  // the value stands in the extra field
constexpr uint64_t kVersion = 45;       // zip64
constexpr uint64_t kDate = 0x21;        // 1980-01-01: the same bytes for the same tensors

// What local headers and the directory have in common: method, time, checksum, sizes, name.
void put_common(std::string& out, const std::string& name, int extra_bytes) {
  put(out, 0, 2);      // flags
  put(out, 0, 2);      // stored
  put(out, 0, 2);      // time
  put(out, kDate, 2);  // date
  put(out, 0, 4);      // checksum, written at the end
  put(out, kIn64, 4);
  put(out, kIn64, 4);
  put(out, name.size(), 2);
  put(out, static_cast<uint64_t>(extra_bytes), 2);
}

std::string local_header(const std::string& name, uint64_t bytes) {
  std::string out = "PK\x03\x04";
  put(out, kVersion, 2);
  put_common(out, name, 20);
  out += name;
  put(out, 1, 2);
  put(out, 16, 2);
  put(out, bytes, 8);
  put(out, bytes, 8);
  return out;
}

std::string directory_entry(const std::string& name, uint64_t bytes, uint64_t offset) {
  std::string out = "PK\x01\x02";
  put(out, kVersion, 2);
  put(out, kVersion, 2);
  put_common(out, name, 28);
  put(out, 0, 8);  // comment, disk, attributes
  put(out, 0, 2);
  put(out, kIn64, 4);
  out += name;
  put(out, 1, 2);
  put(out, 24, 2);
  put(out, bytes, 8);
  put(out, bytes, 8);
  put(out, offset, 8);
  return out;
}

std::string directory_end(uint64_t members, uint64_t offset, uint64_t bytes) {
  std::string out = "PK\x06\x06";
  put(out, 44, 8);
  put(out, kVersion, 2);
  put(out, kVersion, 2);
  put(out, 0, 8);  // disks
  put(out, members, 8);
  put(out, members, 8);
  put(out, bytes, 8);
  put(out, offset, 8);
  out += "PK\x06\x07";
  put(out, 0, 4);
  put(out, offset + bytes, 8);
  put(out, 1, 4);
  out += "PK\x05\x06";
  put(out, 0, 4);
  put(out, 0xffff, 2);
  put(out, 0xffff, 2);
  put(out, kIn64, 4);
  put(out, kIn64, 4);
  put(out, 0, 2);
  return out;
}

constexpr int64_t kLocalChecksum = 14, kDirectoryChecksum = 16;

}  // namespace

FileLayout npz_layout(const std::string& path, const std::vector<NamedSpec>& tensors) {
  FileLayout layout;
  std::string directory;
  int64_t at = 0;
  std::vector<int64_t> places;  // of checksums, in the directory
  for (const NamedSpec& tensor : tensors) {
    const std::string name = tensor.name + ".npy";
    const std::string npy = npy_header(tensor.spec);
    const int64_t bytes = add_bytes(path, std::ssize(npy), data_bytes(tensor.spec));
    std::string header = local_header(name, static_cast<uint64_t>(bytes));
    const int64_t begin = add_bytes(path, at, std::ssize(header));
    places.push_back(std::ssize(directory) + kDirectoryChecksum);
    directory += directory_entry(name, static_cast<uint64_t>(bytes), static_cast<uint64_t>(at));
    layout.checksums.push_back({begin, begin + bytes, {at + kLocalChecksum, 0}});
    layout.pieces.push_back({at, header + npy});
    layout.data_offsets.push_back(begin + std::ssize(npy));
    at = add_bytes(path, begin, bytes);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    layout.checksums[i].places[1] = at + places[i];
  }
  const auto bytes = static_cast<uint64_t>(directory.size());
  directory += directory_end(tensors.size(), static_cast<uint64_t>(at), bytes);
  layout.bytes = add_bytes(path, at, std::ssize(directory));
  layout.pieces.push_back({at, std::move(directory)});
  return layout;
}

}  // namespace sheaf::io

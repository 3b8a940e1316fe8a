// SPDX-License-Identifier: MIT
//
// A model without nodes whose initialisers are the tensors, with raw data.
#include "io/file_error.h"
#include "io/layout.h"
#include "io/onnx_tensor.h"
#include "io/wire.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr int64_t kMaxBytes = INT32_MAX;  // no protobuf library reads more
constexpr uint64_t kIrVersion = 8, kOpset = 17;

// The tag and length of a field of bytes whose content follows elsewhere.
std::string opening(int field, int64_t bytes) {
  std::string out;
  put_varint(out, static_cast<uint64_t>(field) << 3 | WireField::kBytes);
  put_varint(out, static_cast<uint64_t>(bytes));
  return out;
}

// Everything of a tensor up to its data, which ends the message.
std::string tensor_head(const std::string& path, const NamedSpec& tensor) {
  const int type = onnx_type(tensor.spec.dtype);
  if (tensor.spec.dtype.is_sub_byte()) {
    refuse_file(path, "packed elements are only read",
                cat("\"", tensor.name, "\" is ", tensor.spec.str(), ", which .onnx packs"),
                ".npy, which holds one element to a byte");
  }
  if (type == 0) {
    refuse_file(path, "no such type in .onnx", cat("\"", tensor.name, "\" is ", tensor.spec.str()),
                ".npy or .npz");
  }
  std::string head;
  for (const int64_t size : tensor.spec.sizes) {
    put_number(head, 1, static_cast<uint64_t>(size));
  }
  put_number(head, 2, static_cast<uint64_t>(type));
  put_bytes(head, 8, tensor.name);
  head += opening(9, data_bytes(tensor.spec));
  return opening(5, add_bytes(path, std::ssize(head), data_bytes(tensor.spec))) + head;
}

}  // namespace

FileLayout onnx_layout(const std::string& path, const std::vector<NamedSpec>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::string graph_head;
  put_bytes(graph_head, 2, "tensors");
  std::vector<std::string> heads;
  int64_t graph_bytes = std::ssize(graph_head);
  for (const NamedSpec& tensor : tensors) {
    heads.push_back(tensor_head(path, tensor));
    graph_bytes = add_bytes(path, graph_bytes + std::ssize(heads.back()), data_bytes(tensor.spec));
    if (graph_bytes > kMaxBytes) {
      refuse_file(path, "too large for .onnx", "protocol buffers end at 2 GiB",
                  ".safetensors, .npy or .npz");
    }
  }
  std::string head, opset;
  put_number(head, 1, kIrVersion);
  put_bytes(head, 2, "sheaf");
  put_number(opset, 2, kOpset);
  put_bytes(head, 8, opset);
  for (const auto& [key, value] : metadata) {
    std::string entry;
    put_bytes(entry, 1, key);
    put_bytes(entry, 2, value);
    put_bytes(head, 14, entry);
  }
  head += opening(7, graph_bytes) + graph_head;
  FileLayout layout;
  int64_t at = std::ssize(head);
  layout.pieces.push_back({0, std::move(head)});
  for (size_t i = 0; i < tensors.size(); ++i) {
    layout.pieces.push_back({at, heads[i]});
    at += std::ssize(heads[i]);
    layout.data_offsets.push_back(at);
    at += data_bytes(tensors[i].spec);
  }
  layout.bytes = at;
  return layout;
}

}  // namespace sheaf::io

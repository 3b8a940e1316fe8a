// SPDX-License-Identifier: MIT
//
// ONNX's TensorProto: shape and type, and where its data is: raw bytes of the file, another file,
// or typed fields that have to be decoded.
#pragma once

#include <optional>

#include "io/source.h"
#include "io/wire.h"

namespace sheaf::io {

struct OnnxTensor {
  TableInfo info;
  TableSource source;
};

// Files of external data that are open already: a model has hundreds of tensors in one of them.
using ExternalFiles = std::map<std::string, FilePointer>;

// `fields` is the message. Throws on a malformed one; a type that Sheaf does not have is noted in
// info.unsupported.
OnnxTensor read_onnx_tensor(WireBytes& bytes, const FilePointer& file, Wire fields,
                            ExternalFiles& external);

// ONNX's number of a type; 0 if it has none.
int onnx_type(DType type);
// The type of such a number, if Sheaf has it.
std::optional<DType> type_of_onnx(int64_t number);

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
#include "io/onnx_tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// Field numbers of TensorProto.
enum : int {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

struct OnnxType {
  int number;
  DType type;
  int field;  // the typed field that may hold its data
};
constexpr OnnxType kOnnxTypes[] = {
    {1, f32, kFloatData},     {2, u8, kInt32Data},      {3, i8, kInt32Data},
    {4, u16, kInt32Data},     {5, i16, kInt32Data},     {6, i32, kInt32Data},
    {7, i64, kInt64Data},     {9, boolean, kInt32Data}, {10, f16, kInt32Data},
    {11, f64, kDoubleData},   {12, u32, kUint64Data},   {13, u64, kUint64Data},
    {14, c64, kFloatData},    {15, c128, kDoubleData},  {16, bf16, kInt32Data},
    {17, f8e4m3, kInt32Data}, {19, f8e5m2, kInt32Data}, {21, u4, kInt32Data},
    {22, i4, kInt32Data},     {25, u2, kInt32Data},     {26, i2, kInt32Data},
};

// A TensorProto as it stands in the file.
struct Proto {
  std::vector<int64_t> dims;
  int64_t type = 0;
  std::string name;
  std::optional<WireField> raw;
  std::vector<WireField> typed;
  bool external = false, segmented = false;
  std::map<std::string, std::string> external_data;
};

void read_external(WireBytes& bytes, const WireField& entry, Proto& proto) {
  std::string key, value;
  Wire fields(bytes, entry);
  for (WireField field; fields.next(field);) {
    (field.number == 1 ? key : value) = wire_text(bytes, field);
  }
  proto.external_data[key] = value;
}

Proto read_proto(WireBytes& bytes, Wire fields) {
  Proto proto;
  for (WireField field; fields.next(field);) {
    switch (field.number) {
      case kDims: append_varints(bytes, field, proto.dims); break;
      case kDataType: proto.type = static_cast<int64_t>(field.value); break;
      case kSegment: proto.segmented = true; break;
      case kName: proto.name = wire_text(bytes, field); break;
      case kRawData:
        if (field.type != WireField::kBytes) {
          malformed_wire(bytes.file(), "raw_data is not bytes");
        }
        proto.raw = field;
        break;
      case kFloatData:
      case kInt32Data:
      case kStringData:
      case kInt64Data:
      case kDoubleData:
      case kUint64Data: proto.typed.push_back(field); break;
      case kExternalData:
        if (field.type != WireField::kBytes) {
          malformed_wire(bytes.file(), "external_data is not a message");
        }
        read_external(bytes, field, proto);
        break;
      case kDataLocation: proto.external = field.value == 1; break;
      default: break;  // doc_string, metadata
    }
  }
  return proto;
}

// Bytes that the data of `info` takes up where it stands in a file.
int64_t stored_bytes(const TableInfo& info) {
  const std::optional<PackedElements> packed = packed_elements(info.spec.dtype);
  return packed ? packed->bytes(info.bytes) : info.bytes;
}

void append_number(std::vector<std::byte>& out, uint64_t value, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) {  // little-endian, as every machine that Sheaf runs on
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

// Typed fields as the bytes of the tensor. What is decoded is never longer than 8 times the field.
std::vector<std::byte> decode(WireBytes& bytes, const OnnxType& type, const Proto& proto) {
  std::vector<std::byte> out;
  const bool floats = type.field == kFloatData || type.field == kDoubleData;
  for (const WireField& field : proto.typed) {
    if (field.number != type.field) {
      malformed_wire(bytes.file(), cat("tensor \"", proto.name, "\" of type ", type.type.name(),
                                       " has its data in field ", field.number));
    }
    if (floats && field.type == WireField::kBytes) {
      const size_t old = out.size();
      out.resize(old + static_cast<size_t>(field.length));
      bytes.file().read(field.offset, out.data() + old, field.length);
    } else if (floats) {
      append_number(out, field.value, field.type == WireField::kFixed64 ? 8 : 4);
    } else {
      std::vector<int64_t> values;
      append_varints(bytes, field, values);
      for (const int64_t value : values) {
        append_number(out, static_cast<uint64_t>(value), type.type.bytes());
      }
    }
  }
  return out;
}

int64_t external_number(const OpenFile& file, const Proto& proto, const char* key,
                        int64_t otherwise) {
  const auto found = proto.external_data.find(key);
  if (found == proto.external_data.end()) {
    return otherwise;
  }
  const std::string& text = found->second;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    malformed_wire(file, cat("external ", key, " of \"", proto.name, "\" is \"", text, "\""));
  }
  return value;
}

void locate_external(const OpenFile& file, const Proto& proto, ExternalFiles& external,
                     OnnxTensor& tensor) {
  const auto location = proto.external_data.find("location");
  if (location == proto.external_data.end()) {
    malformed_wire(file, cat("external tensor \"", proto.name, "\" has no location"));
  }
  const int64_t needed = stored_bytes(tensor.info);
  const int64_t length = external_number(file, proto, "length", needed);
  if (length != needed) {
    malformed_wire(file, cat("external tensor \"", proto.name, "\" has ", length, " bytes, but ",
                             tensor.info.spec.str(), " needs ", needed));
  }
  tensor.info.offset = external_number(file, proto, "offset", 0);
  FilePointer& opened = external[location->second];
  if (!opened) {
    opened = std::make_shared<OpenFile>(beside(file, location->second));
  }
  tensor.source.file = opened;
  const int64_t size = tensor.source.file->size();
  if (tensor.info.offset > size || length > size - tensor.info.offset) {
    malformed_wire(*tensor.source.file,
                   cat("tensor \"", proto.name, "\" has ", length, " bytes at ", tensor.info.offset,
                       ", but the file has ", size));
  }
}

// ONNX packs elements of less than a byte, without regard to rows. Those of typed fields are here
// already; those of a file are unpacked as they are read.
void unpack_later(const PackedElements& packed, OnnxTensor& tensor) {
  if (tensor.source.file) {
    tensor.info.storage = "packed";
    tensor.source.packed = packed;
    return;
  }
  std::vector<std::byte> elements(static_cast<size_t>(tensor.info.bytes));
  packed.unpack(tensor.source.bytes.data(), 0, elements.data(), tensor.info.bytes);
  tensor.source.bytes = std::move(elements);
}

void locate(WireBytes& bytes, const FilePointer& file, const OnnxType& type, const Proto& proto,
            ExternalFiles& external, OnnxTensor& tensor) {
  TableInfo& info = tensor.info;
  info.storage = "plain";
  tensor.source.file = file;
  const int64_t needed = stored_bytes(info);
  int64_t held = needed;
  if (proto.external) {
    locate_external(*file, proto, external, tensor);
  } else if (proto.raw) {
    info.offset = proto.raw->offset;
    held = proto.raw->length;
  } else {
    info.storage = "fields";
    info.offset = proto.typed.empty() ? 0 : proto.typed[0].offset;
    tensor.source.file = nullptr;
    tensor.source.bytes = decode(bytes, type, proto);
    held = std::ssize(tensor.source.bytes);
  }
  if (held != needed) {
    malformed_wire(*file, cat("tensor \"", info.name, "\" has ", held, " bytes of data, but ",
                              info.spec.str(), " needs ", needed));
  }
  if (const std::optional<PackedElements> packed = packed_elements(info.spec.dtype)) {
    unpack_later(*packed, tensor);
  }
  tensor.source.offset = info.offset;
  info.path = tensor.source.file ? tensor.source.file->path() : file->path();
}

}  // namespace

OnnxTensor read_onnx_tensor(WireBytes& bytes, const FilePointer& file, Wire fields,
                            ExternalFiles& external) {
  const Proto proto = read_proto(bytes, fields);
  OnnxTensor tensor;
  tensor.info.name = proto.name;
  tensor.info.path = file->path();
  const auto* type = std::find_if(std::begin(kOnnxTypes), std::end(kOnnxTypes),
                                  [&](const OnnxType& t) { return proto.type == t.number; });
  if (type == std::end(kOnnxTypes) || proto.segmented) {
    tensor.info.unsupported = proto.segmented ? std::string("it is split into segments")
                                              : cat("ONNX type ", proto.type, " is unknown");
    return tensor;
  }
  tensor.info.bytes = checked_bytes(file->path(), proto.name, type->type, proto.dims);
  tensor.info.spec = TensorSpec(type->type, checked_sizes(file->path(), proto.name, proto.dims));
  locate(bytes, file, *type, proto, external, tensor);
  return tensor;
}

int onnx_type(DType type) {
  const auto* found = std::find_if(std::begin(kOnnxTypes), std::end(kOnnxTypes),
                                   [&](const OnnxType& t) { return t.type == type; });
  return found == std::end(kOnnxTypes) ? 0 : found->number;
}

std::optional<DType> type_of_onnx(int64_t number) {
  for (const OnnxType& known : kOnnxTypes) {
    if (known.number == number) {
      return known.type;
    }
  }
  return std::nullopt;
}

}  // namespace sheaf::io

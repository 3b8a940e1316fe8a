// SPDX-License-Identifier: MIT
#include "io/onnx_model.h"

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// One reader for a message; the numbers are those of onnx.proto.
class ModelReader {
 public:
  explicit ModelReader(const FilePointer& file) : file_(file), bytes_(*file) {}

  OnnxModel model() {
    OnnxModel model;
    Wire fields(bytes_, 0, file_->size());
    bool has_graph = false;
    for (WireField field; fields.next(field);) {
      switch (field.number) {
        case 2: model.metadata["producer_name"] = wire_text(bytes_, field); break;
        case 7:
          graph(message(field), model);
          has_graph = true;
          break;
        case 8: opset(message(field), model); break;
        case 14: metadata(message(field), model); break;
        default: break;
      }
    }
    if (!has_graph) {
      malformed_wire(*file_, "it has no graph");
    }
    return model;
  }

  OnnxTensor tensor(const Wire& fields) {
    return read_onnx_tensor(bytes_, file_, fields, external_);
  }
  Wire all() { return {bytes_, 0, file_->size()}; }

 private:
  Wire message(const WireField& field) {
    if (field.type != WireField::kBytes) {
      malformed_wire(*file_, cat("field ", field.number, " is not a message"));
    }
    return {bytes_, field};
  }

  void graph(Wire fields, OnnxModel& model) {
    for (WireField field; fields.next(field);) {
      switch (field.number) {
        case 1: model.nodes.push_back(node(message(field))); break;
        case 5: model.initializers.push_back(tensor(message(field))); break;
        case 11: model.inputs.push_back(value_name(message(field), model)); break;
        case 12: model.outputs.push_back(value_name(message(field), model)); break;
        default: break;
      }
    }
  }

  OnnxNode node(Wire fields) {
    OnnxNode node;
    for (WireField field; fields.next(field);) {
      switch (field.number) {
        case 1: node.inputs.push_back(wire_text(bytes_, field)); break;
        case 2: node.outputs.push_back(wire_text(bytes_, field)); break;
        case 3: node.name = wire_text(bytes_, field); break;
        case 4: node.op_type = wire_text(bytes_, field); break;
        case 5: node.attributes.push_back(attribute(message(field))); break;
        case 7: node.domain = wire_text(bytes_, field); break;
        default: break;
      }
    }
    return node;
  }

  OnnxAttribute attribute(Wire fields) {
    OnnxAttribute attribute;
    for (WireField field; fields.next(field);) {
      switch (field.number) {
        case 1: attribute.name = wire_text(bytes_, field); break;
        case 2: attribute.real = wire_float(bytes_, field); break;
        case 3: attribute.number = static_cast<int64_t>(field.value); break;
        case 4: attribute.text = wire_text(bytes_, field); break;
        case 5: attribute.tensor = tensor(message(field)); break;
        case 7: append_floats(bytes_, field, attribute.reals); break;
        case 8: append_varints(bytes_, field, attribute.numbers); break;
        default: break;  // texts and subgraphs: no operator here has them
      }
    }
    return attribute;
  }

  std::string value_name(Wire fields, OnnxModel& model) {
    std::string name;
    int64_t type = 0;
    for (WireField field; fields.next(field);) {
      if (field.number == 1) {
        name = wire_text(bytes_, field);
      } else if (field.number == 2) {
        type = element_type(message(field));
      }
    }
    if (type != 0) {
      model.element_types[name] = type;
    }
    return name;
  }

  // 0 if the type is not said.
  int64_t element_type(Wire fields) {
    constexpr int kTensor = 1, kSequence = 4, kMap = 5, kOptional = 9;
    int64_t type = 0;
    for (WireField field; fields.next(field);) {
      if (field.number == kTensor) {
        Wire tensor = message(field);
        for (WireField part; tensor.next(part);) {
          type = part.number == 1 ? static_cast<int64_t>(part.value) : type;
        }
      } else if (field.number == kSequence || field.number == kMap || field.number == kOptional) {
        type = OnnxModel::kNotATensor;
      }
    }
    return type;
  }

  void opset(Wire fields, OnnxModel& model) {
    std::string domain;
    int64_t version = 0;
    for (WireField field; fields.next(field);) {
      if (field.number == 1) {
        domain = wire_text(bytes_, field);
      } else if (field.number == 2) {
        version = static_cast<int64_t>(field.value);
      }
    }
    model.opsets[domain] = version;
  }

  void metadata(Wire fields, OnnxModel& model) {
    std::string key, value;
    for (WireField field; fields.next(field);) {
      (field.number == 1 ? key : value) = wire_text(bytes_, field);
    }
    model.metadata[key] = value;
  }

  const FilePointer& file_;
  WireBytes bytes_;
  ExternalFiles external_;
};

}  // namespace

OnnxModel read_onnx_model(const FilePointer& file) { return ModelReader(file).model(); }

// A .pb of the ONNX backend tests is one TensorProto; anything else is a model.
void read_onnx(File::Contents& contents, const FilePointer& file) {
  if (file->path().ends_with(".pb")) {
    ModelReader reader(file);
    OnnxTensor tensor = reader.tensor(reader.all());
    contents.add(std::move(tensor.info), std::move(tensor.source));
    return;
  }
  OnnxModel model = read_onnx_model(file);
  contents.metadata = std::move(model.metadata);
  for (OnnxTensor& tensor : model.initializers) {
    contents.add(std::move(tensor.info), std::move(tensor.source));
  }
}

}  // namespace sheaf::io

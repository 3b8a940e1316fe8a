// SPDX-License-Identifier: MIT
//
// Operator descriptors into programs. Gathers and scatters take the way of the front end; for their
// neighbours the descriptors are read here, and the work is that of src/moves.
#include <cmath>
#include <iterator>
#include <utility>

#include "frontends/directml/refusal.h"
#include "frontends/directml/request.h"
#include "program.h"
#include "support/float_bits.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

using dml::detail::braced;
using dml::detail::OperatorDesc;
using dml::detail::OperatorInfo;
using dml::detail::TensorDesc;
using dml::detail::TypeSet;

// The structs of directml.h and of sheaf/directml.h have one layout; src/frontends/directml knows
// the latter. layout.cc holds them to it.
const dml::DML_TENSOR_DESC* ours(const DML_TENSOR_DESC* desc) {
  return reinterpret_cast<const dml::DML_TENSOR_DESC*>(desc);
}

Slot slot_of(const TensorDesc& tensor, std::string name) {
  Slot slot;
  slot.name = std::move(name);
  slot.total_bytes = tensor.total_bytes;
  slot.required_bytes = tensor.required_bytes;
  slot.alignment = tensor.alignment;
  slot.owned = tensor.owned;
  return slot;
}

class SingleOperator final : public Program {
 public:
  SingleOperator(const char* name, std::vector<Slot> inputs, std::vector<Slot> outputs,
                 moves::Work work)
      : Program(name), work_(std::move(work)) {
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
    only_plans_ = work_.only_plans;
    place_owned();
  }
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::byte*,
           const Queue& queue) const override {
    work_(inputs, outputs, queue);
  }

 private:
  moves::Work work_;
};

std::shared_ptr<const Program> index_operator(const DML_OPERATOR_DESC* desc,
                                              const dml::DeviceOptions& options) {
  const OperatorDesc op =
      dml::detail::read_operator(reinterpret_cast<const dml::DML_OPERATOR_DESC*>(desc), options);
  const dml::detail::Tensors tensors = dml::detail::read_tensors(op);
  const bool scatter = is_scatter(op.info->op);
  const Plan plan = dml::detail::operator_plan(op, tensors);
  std::vector<Slot> inputs{slot_of(tensors.input, tensors.input.name),
                           slot_of(tensors.indices, tensors.indices.name)};
  moves::Work work{[plan](auto in, auto out, const Queue& queue) {
                     moves::run_plan(plan, in[0], in[1], out[0], queue);
                   },
                   true};
  if (scatter) {
    inputs.push_back(slot_of(tensors.updates, tensors.updates.name));
    work.run = [plan](auto in, auto out, const Queue& queue) {
      moves::run_plan(plan, in[0], in[1], in[2], out[0], queue);
    };
  }
  return std::make_shared<const SingleOperator>(
      op.info->name, std::move(inputs),
      std::vector<Slot>{slot_of(tensors.output, tensors.output.name)}, std::move(work));
}

constexpr TypeSet kIntegers{dml::DML_TENSOR_DATA_TYPE_UINT64, dml::DML_TENSOR_DATA_TYPE_INT64,
                            dml::DML_TENSOR_DATA_TYPE_UINT32, dml::DML_TENSOR_DATA_TYPE_INT32};
constexpr TypeSet kUint32{dml::DML_TENSOR_DATA_TYPE_UINT32};
constexpr TypeSet kNumbers =
    kIntegers | TypeSet{dml::DML_TENSOR_DATA_TYPE_FLOAT64, dml::DML_TENSOR_DATA_TYPE_FLOAT32,
                        dml::DML_TENSOR_DATA_TYPE_FLOAT16, dml::DML_TENSOR_DATA_TYPE_INT16,
                        dml::DML_TENSOR_DATA_TYPE_INT8,    dml::DML_TENSOR_DATA_TYPE_UINT16,
                        dml::DML_TENSOR_DATA_TYPE_UINT8};

// What the highest level takes; the neighbours have no older rows.
constexpr dml::detail::TensorSupport kSupport[] = {
    {dml::DML_FEATURE_LEVEL_1_0, 1, dml::DML_TENSOR_DIMENSION_COUNT_MAX1, kNumbers, kIntegers}};

// Reads the tensors of one neighbour, checks them, and makes its program.
class Reader {
 public:
  explicit Reader(const char* name)
      : info_{dml::DML_OPERATOR_INVALID, Op::kGather, name, kSupport} {
    op_.info = &info_;
    op_.support = &kSupport[0];
  }

  const TensorSpec& input(const std::string& name, const DML_TENSOR_DESC* desc,
                          const TypeSet& types = kNumbers) {
    return read(name, desc, types, false);
  }
  const TensorSpec& output(const std::string& name, const DML_TENSOR_DESC* desc,
                           const TypeSet& types = kNumbers) {
    return read(name, desc, types, true);
  }

  const char* name() const { return info_.name; }

  [[noreturn]] void refuse(const std::string& what, const std::string& detail,
                           const std::string& next) const {
    dml::detail::refuse(op_, {}, what, detail, next);
  }

  void check_pointer(const void* pointer, const char* name) const {
    if (pointer == nullptr) {
      refuse("null pointer", cat(name, " is null"), "one entry for each dimension");
    }
  }

  void check_count(const char* name, UINT count, const TensorSpec& spec) const {
    if (count != static_cast<UINT>(spec.rank())) {
      refuse("dimension counts differ",
             cat(name, " = ", count, ", but the tensors have ", spec.rank(), " dimensions"),
             cat(name, " = ", spec.rank()));
    }
  }

  void check_axis(UINT axis, const TensorSpec& spec) const {
    if (axis >= static_cast<UINT>(spec.rank())) {
      refuse("Axis out of range",
             cat("Axis = ", axis, ", but only 0 to ", spec.rank() - 1, " is possible"),
             cat("Axis from 0 to ", spec.rank() - 1));
    }
  }

  void check_same_rank(const TensorSpec& a, const TensorSpec& b) const {
    if (a.rank() != b.rank()) {
      refuse("dimension counts differ",
             cat("the tensors have ", a.rank(), " and ", b.rank(), " dimensions"),
             "pad the shorter one with leading dimensions of size 1");
    }
  }

  void check_same_type(const TensorSpec& a, const TensorSpec& b) const {
    if (a.dtype != b.dtype) {
      refuse("types differ", cat("the tensors are ", a.dtype.name(), " and ", b.dtype.name()),
             "the same type; only DML_OPERATOR_CAST converts");
    }
  }

  std::shared_ptr<const Program> program(moves::Work work) {
    return std::make_shared<const SingleOperator>(info_.name, std::move(inputs_),
                                                  std::move(outputs_), std::move(work));
  }

 private:
  const TensorSpec& read(const std::string& name, const DML_TENSOR_DESC* desc, const TypeSet& types,
                         bool is_output) {
    op_.given += cat(op_.given.empty() ? "" : "   ", name, " ", dml::detail::describe(ours(desc)));
    const TensorDesc tensor =
        dml::detail::read_tensor(op_, name.c_str(), ours(desc), types, is_output);
    (is_output ? outputs_ : inputs_).push_back(slot_of(tensor, name));
    specs_.push_back(std::make_unique<TensorSpec>(tensor.spec));
    return *specs_.back();
  }

  OperatorInfo info_;
  OperatorDesc op_;
  std::vector<Slot> inputs_, outputs_;
  std::vector<std::unique_ptr<TensorSpec>> specs_;
};

Scalar scalar_of(const Reader& reader, DML_TENSOR_DATA_TYPE type, const DML_SCALAR_UNION& value,
                 const TensorSpec& output) {
  const auto known = static_cast<dml::DML_TENSOR_DATA_TYPE>(type);
  if (!kNumbers.contains(known) || dml::detail::element_type(known) != output.dtype) {
    reader.refuse("types differ",
                  cat("the value is ", dml::detail::type_name(known), ", but OutputTensor is ",
                      output.dtype.name()),
                  "a value of the output's type");
  }
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64: return value.Float64;
    case DML_TENSOR_DATA_TYPE_FLOAT32: return static_cast<double>(value.Float32);
    case DML_TENSOR_DATA_TYPE_FLOAT16: return from_float_bits(kFormatF16, value.UInt16);
    case DML_TENSOR_DATA_TYPE_INT64: return value.Int64;
    case DML_TENSOR_DATA_TYPE_INT32: return value.Int32;
    case DML_TENSOR_DATA_TYPE_INT16: return value.Int16;
    case DML_TENSOR_DATA_TYPE_INT8: return value.Int8;
    case DML_TENSOR_DATA_TYPE_UINT64: return value.UInt64;
    case DML_TENSOR_DATA_TYPE_UINT32: return value.UInt32;
    case DML_TENSOR_DATA_TYPE_UINT16: return value.UInt16;
    default: return value.UInt8;
  }
}

template <class T>
Dims dims_of(const T* values, int count) {
  Dims dims;
  for (int d = 0; d < count; ++d) {
    dims.push_back(values[d]);
  }
  return dims;
}

using Made = std::shared_ptr<const Program>;

Made identity(const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_ELEMENT_WISE_IDENTITY");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_type(from, to);
  if (from.sizes != to.sizes) {
    reader.refuse(
        "sizes differ",
        cat("InputTensor has ", braced(from.sizes), ", but OutputTensor ", braced(to.sizes)),
        "equal sizes; Strides of 0 repeat an input");
  }
  if (desc.ScaleBias != nullptr) {
    return reader.program(moves::scale(reader.name(), from, to,
                                       static_cast<double>(desc.ScaleBias->Scale),
                                       static_cast<double>(desc.ScaleBias->Bias)));
  }
  moves::Work work = moves::copy(reader.name(), from, to);
  work.run = [copy = work.run, same = from == to](auto in, auto out, const Queue& queue) {
    if (!same || in[0] != out[0]) {  // in place: nothing to do
      copy(in, out, queue);
    }
  };
  return reader.program(std::move(work));
}

Made cast(const DML_CAST_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_CAST");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  return reader.program(moves::cast(reader.name(), from, to));
}

Made fill_constant(const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_FILL_VALUE_CONSTANT");
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  const Scalar value = scalar_of(reader, desc.ValueDataType, desc.Value, to);
  return reader.program(moves::fill(reader.name(), to, value));
}

Made fill_sequence(const DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_FILL_VALUE_SEQUENCE");
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  const Scalar start = scalar_of(reader, desc.ValueDataType, desc.ValueStart, to);
  const Scalar delta = scalar_of(reader, desc.ValueDataType, desc.ValueDelta, to);
  return reader.program(moves::sequence(reader.name(), to, start, delta));
}

Made tile(const DML_TILE_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_TILE");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_count("RepeatsCount", desc.RepeatsCount, from);
  reader.check_pointer(desc.Repeats, "Repeats");
  return reader.program(moves::tile(reader.name(), from, to, dims_of(desc.Repeats, from.rank())));
}

// More parts than this is a mistake, or an attack.
constexpr UINT kMostParts = 65536;

void check_parts(const Reader& reader, const char* name, UINT count, const DML_TENSOR_DESC* list) {
  if (count == 0 || count > kMostParts || list == nullptr) {
    reader.refuse("no tensors",
                  cat(name, " has ", count, " tensors", list == nullptr ? " and is null" : ""),
                  cat("1 to ", kMostParts, " tensors"));
  }
}

Made join(const DML_JOIN_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_JOIN");
  check_parts(reader, "InputTensors", desc.InputCount, desc.InputTensors);
  std::vector<TensorSpec> from;
  for (UINT i = 0; i < desc.InputCount; ++i) {
    from.push_back(reader.input(cat("InputTensors[", i, "]"), &desc.InputTensors[i]));
  }
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_axis(desc.Axis, to);
  return reader.program(moves::join(reader.name(), from, to, desc.Axis));
}

Made split(const DML_SPLIT_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_SPLIT");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  check_parts(reader, "OutputTensors", desc.OutputCount, desc.OutputTensors);
  std::vector<TensorSpec> to;
  for (UINT i = 0; i < desc.OutputCount; ++i) {
    to.push_back(reader.output(cat("OutputTensors[", i, "]"), &desc.OutputTensors[i]));
  }
  reader.check_axis(desc.Axis, from);
  return reader.program(moves::split(reader.name(), from, to, desc.Axis));
}

// The window of SLICE1 and SLICE_GRAD: where copying starts in each dimension.
struct Window {
  const UINT *offsets, *sizes;
  const INT* strides;
};

Dims window_start(const Reader& reader, const Window& window, const TensorSpec& whole,
                  const TensorSpec& part) {
  reader.check_pointer(window.offsets, "InputWindowOffsets");
  reader.check_pointer(window.sizes, "InputWindowSizes");
  reader.check_pointer(window.strides, "InputWindowStrides");
  Dims start;
  for (int d = 0; d < whole.rank(); ++d) {
    const int64_t offset = window.offsets[d], size = window.sizes[d], stride = window.strides[d];
    const int64_t most =
        stride == 0 || size == 0 ? 0 : 1 + (size - 1) / (stride < 0 ? -stride : stride);
    if (size == 0 || stride == 0 || offset + size > whole.sizes[d] || part.sizes[d] > most) {
      reader.refuse("window does not fit",
                    cat("dimension ", d, ": offset ", offset, ", size ", size, ", stride ", stride,
                        " of ", whole.sizes[d], " entries give at most ", most, ", and ",
                        part.sizes[d], " are asked for"),
                    "a window inside the tensor, and no more entries than it has");
    }
    start.push_back(stride < 0 ? offset + size - 1 : offset);
  }
  return start;
}

Made slice1(const DML_SLICE1_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_SLICE1");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  const Dims start = window_start(
      reader, {desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides}, from, to);
  return reader.program(
      moves::slice(reader.name(), from, to, start, dims_of(desc.InputWindowStrides, from.rank())));
}

Made slice_grad(const DML_SLICE_GRAD_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_SLICE_GRAD");
  const TensorSpec from = reader.input("InputGradientTensor", desc.InputGradientTensor);
  const TensorSpec to = reader.output("OutputGradientTensor", desc.OutputGradientTensor);
  reader.check_same_rank(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  const Dims start = window_start(
      reader, {desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides}, to, from);
  return reader.program(moves::unslice(reader.name(), from, to, start,
                                       dims_of(desc.InputWindowStrides, from.rank()), 0));
}

Made slice(const DML_SLICE_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_SLICE");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  reader.check_pointer(desc.Offsets, "Offsets");
  reader.check_pointer(desc.Sizes, "Sizes");
  reader.check_pointer(desc.Strides, "Strides");
  if (dims_of(desc.Sizes, from.rank()) != to.sizes) {
    reader.refuse("output has the wrong shape",
                  cat("Sizes = ", braced(dims_of(desc.Sizes, from.rank())),
                      ", but OutputTensor.Sizes = ", braced(to.sizes)),
                  "an output of those sizes");
  }
  return reader.program(moves::slice(reader.name(), from, to, dims_of(desc.Offsets, from.rank()),
                                     dims_of(desc.Strides, from.rank())));
}

template <class Desc>
Made pad(const Desc& desc, Reader reader,
         const std::function<Scalar(const Reader&, const TensorSpec&)>& value) {
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_same_type(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  reader.check_pointer(desc.StartPadding, "StartPadding");
  reader.check_pointer(desc.EndPadding, "EndPadding");
  constexpr PadMode kModes[] = {PadMode::kConstant, PadMode::kEdge, PadMode::kReflect,
                                PadMode::kSymmetric, PadMode::kWrap};
  const auto mode = static_cast<uint32_t>(desc.PaddingMode);
  if (mode >= std::size(kModes)) {
    reader.refuse("unknown padding mode", cat("PaddingMode = ", mode),
                  "DML_PADDING_MODE_CONSTANT (0) to DML_PADDING_MODE_WRAP (4)");
  }
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t padded =
        from.sizes[d] + int64_t{desc.StartPadding[d]} + int64_t{desc.EndPadding[d]};
    if (to.sizes[d] != padded) {
      reader.refuse(
          "output has the wrong shape",
          cat("OutputTensor.Sizes[", d, "] = ", to.sizes[d], ", but the padded input has ", padded),
          "sizes of the input, plus the padding");
    }
  }
  const PadMode pad_mode = kModes[mode];
  return reader.program(moves::pad(reader.name(), from, to, pad_mode,
                                   dims_of(desc.StartPadding, from.rank()), value(reader, to)));
}

Made padding(const DML_PADDING_OPERATOR_DESC& desc) {
  return pad(desc, Reader("DML_OPERATOR_PADDING"),
             [&](const Reader&, const TensorSpec& to) -> Scalar {
               // A float for every type; what an integer type cannot hold is refused.
               const double number = static_cast<double>(desc.PaddingValue);
               return to.dtype.is_integer() ? Scalar(std::trunc(number)) : Scalar(number);
             });
}

Made padding1(const DML_PADDING1_OPERATOR_DESC& desc) {
  return pad(desc, Reader("DML_OPERATOR_PADDING1"),
             [&](const Reader& reader, const TensorSpec& to) {
               return scalar_of(reader, desc.PaddingValueDataType, desc.PaddingValue, to);
             });
}

Made reverse_subsequences(const DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_REVERSE_SUBSEQUENCES");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec lengths =
      reader.input("SequenceLengthsTensor", desc.SequenceLengthsTensor, kIntegers);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, lengths);
  reader.check_axis(desc.Axis, from);
  return reader.program(moves::reverse_subsequences(reader.name(), from, lengths, to, desc.Axis));
}

Made one_hot(const DML_ONE_HOT_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_ONE_HOT");
  const TensorSpec indices = reader.input("IndicesTensor", desc.IndicesTensor, kIntegers);
  const TensorSpec values = reader.input("ValuesTensor", desc.ValuesTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(indices, to);
  reader.check_axis(desc.Axis, to);
  return reader.program(moves::one_hot(reader.name(), indices, values, to, desc.Axis));
}

Made nonzero(const DML_NONZERO_COORDINATES_OPERATOR_DESC& desc) {
  Reader reader("DML_OPERATOR_NONZERO_COORDINATES");
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec count = reader.output("OutputCountTensor", desc.OutputCountTensor, kUint32);
  const TensorSpec coordinates =
      reader.output("OutputCoordinatesTensor", desc.OutputCoordinatesTensor, kUint32);
  return reader.program(moves::nonzero(reader.name(), from, count, coordinates));
}

// A row of the table: what to do with the descriptor of an operator.
struct Entry {
  DML_OPERATOR_TYPE type;
  Made (*read)(const void* desc);
};

template <class Desc, Made (*kRead)(const Desc&)>
Made read_as(const void* desc) {
  return kRead(*static_cast<const Desc*>(desc));
}

constexpr Entry kNeighbours[] = {
    {DML_OPERATOR_ELEMENT_WISE_IDENTITY,
     read_as<DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC, identity>},
    {DML_OPERATOR_CAST, read_as<DML_CAST_OPERATOR_DESC, cast>},
    {DML_OPERATOR_FILL_VALUE_CONSTANT,
     read_as<DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, fill_constant>},
    {DML_OPERATOR_FILL_VALUE_SEQUENCE,
     read_as<DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC, fill_sequence>},
    {DML_OPERATOR_TILE, read_as<DML_TILE_OPERATOR_DESC, tile>},
    {DML_OPERATOR_JOIN, read_as<DML_JOIN_OPERATOR_DESC, join>},
    {DML_OPERATOR_SPLIT, read_as<DML_SPLIT_OPERATOR_DESC, split>},
    {DML_OPERATOR_SLICE, read_as<DML_SLICE_OPERATOR_DESC, slice>},
    {DML_OPERATOR_SLICE1, read_as<DML_SLICE1_OPERATOR_DESC, slice1>},
    {DML_OPERATOR_SLICE_GRAD, read_as<DML_SLICE_GRAD_OPERATOR_DESC, slice_grad>},
    {DML_OPERATOR_PADDING, read_as<DML_PADDING_OPERATOR_DESC, padding>},
    {DML_OPERATOR_PADDING1, read_as<DML_PADDING1_OPERATOR_DESC, padding1>},
    {DML_OPERATOR_REVERSE_SUBSEQUENCES,
     read_as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, reverse_subsequences>},
    {DML_OPERATOR_ONE_HOT, read_as<DML_ONE_HOT_OPERATOR_DESC, one_hot>},
    {DML_OPERATOR_NONZERO_COORDINATES, read_as<DML_NONZERO_COORDINATES_OPERATOR_DESC, nonzero>},
};

}  // namespace

void Program::place_owned() {
  for (Slot& slot : inputs_) {
    if (slot.owned) {
      slot.persistent_offset = persistent_bytes_;
      constexpr UINT64 kAlignment = DML_PERSISTENT_BUFFER_ALIGNMENT;
      persistent_bytes_ += (slot.required_bytes + kAlignment - 1) / kAlignment * kAlignment;
      if (persistent_bytes_ > INT64_MAX) {
        dml::detail::refuse({.who = name_,
                             .what = "tensors too large",
                             .detail = "the inputs that are OWNED_BY_DML need more than 2^63 - 1 "
                                       "bytes together",
                             .given = slot.name,
                             .next = "fewer inputs that are OWNED_BY_DML"});
      }
    }
  }
}

std::shared_ptr<const Program> read_program(const DML_OPERATOR_DESC* desc,
                                            const dml::DeviceOptions& options) {
  if (desc != nullptr && desc->Desc != nullptr) {
    for (const Entry& entry : kNeighbours) {
      if (entry.type == desc->Type) {
        return entry.read(desc->Desc);
      }
    }
  }
  return index_operator(desc, options);
}

}  // namespace sheaf::dml_com

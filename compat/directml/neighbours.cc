// SPDX-License-Identifier: MIT
//
// The neighbours of gathers and scatters: their descriptors are read here, and the work is that of
// src/moves.
#include <cmath>
#include <iterator>
#include <utility>

#include "descriptor_reader.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

using dml::detail::braced;
using Made = std::shared_ptr<const Program>;
using Options = dml::DeviceOptions;

template <class T>
Dims dims_of(const T* values, int count) {
  Dims dims;
  for (int d = 0; d < count; ++d) {
    dims.push_back(values[d]);
  }
  return dims;
}

Made identity(const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_ELEMENT_WISE_IDENTITY, options);
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
    return reader.program(
        moves::scale(reader.name(), from, to, static_cast<double>(desc.ScaleBias->Scale),
                     static_cast<double>(desc.ScaleBias->Bias)),
        from == to ? Sharing::kInPlace : Sharing::kRefused);
  }
  moves::Work work = moves::copy(reader.name(), from, to);
  work.run = [copy = work.run, same = from == to](auto in, auto out, const Queue& queue) {
    if (!same || in[0] != out[0]) {  // in place: nothing to do
      copy(in, out, queue);
    }
  };
  return reader.program(std::move(work), Sharing::kOperator);
}

Made cast(const DML_CAST_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_CAST, options);
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  return reader.program(moves::cast(reader.name(), from, to),
                        from == to ? Sharing::kInPlace : Sharing::kRefused);
}

Made fill_constant(const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_FILL_VALUE_CONSTANT, options);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  const Scalar value = reader.scalar(desc.ValueDataType, desc.Value, to);
  return reader.program(moves::fill(reader.name(), to, value));
}

Made fill_sequence(const DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_FILL_VALUE_SEQUENCE, options);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  const Scalar start = reader.scalar(desc.ValueDataType, desc.ValueStart, to);
  const Scalar delta = reader.scalar(desc.ValueDataType, desc.ValueDelta, to);
  return reader.program(moves::sequence(reader.name(), to, start, delta));
}

Made tile(const DML_TILE_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_TILE, options);
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_count("RepeatsCount", desc.RepeatsCount, from);
  reader.check_pointer(desc.Repeats, "Repeats");
  for (int d = 0; d < from.rank(); ++d) {
    if (!checked_mul(from.sizes[d], int64_t{desc.Repeats[d]}) ||
        !checked_mul(from.sizes[d], to.strides[d])) {
      reader.refuse("output has the wrong shape",
                    cat("dimension ", d, ": ", from.sizes[d], " entries of stride ", to.strides[d],
                        ", repeated ", desc.Repeats[d], " times, are more than 2^63 - 1"),
                    "fewer repeats");
    }
  }
  return reader.program(moves::tile(reader.name(), from, to, dims_of(desc.Repeats, from.rank())),
                        Sharing::kOperator);
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

Made join(const DML_JOIN_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_JOIN, options);
  check_parts(reader, "InputTensors", desc.InputCount, desc.InputTensors);
  std::vector<TensorSpec> from;
  for (UINT i = 0; i < desc.InputCount; ++i) {
    from.push_back(reader.input(cat("InputTensors[", i, "]"), &desc.InputTensors[i]));
  }
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_axis(desc.Axis, to);
  return reader.program(moves::join(reader.name(), from, to, desc.Axis));
}

Made split(const DML_SPLIT_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_SPLIT, options);
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
    if (offset + size > whole.sizes[d] || part.sizes[d] > most) {
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

Made slice1(const DML_SLICE1_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_SLICE1, options);
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  const Dims start = window_start(
      reader, {desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides}, from, to);
  return reader.program(
      moves::slice(reader.name(), from, to, start, dims_of(desc.InputWindowStrides, from.rank())),
      Sharing::kOperator);
}

Made slice_grad(const DML_SLICE_GRAD_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_SLICE_GRAD, options);
  const TensorSpec from = reader.input("InputGradientTensor", desc.InputGradientTensor);
  const TensorSpec to = reader.output("OutputGradientTensor", desc.OutputGradientTensor);
  reader.check_same_rank(from, to);
  reader.check_count("DimensionCount", desc.DimensionCount, from);
  const Dims start = window_start(
      reader, {desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides}, to, from);
  return reader.program(moves::unslice(reader.name(), from, to, start,
                                       dims_of(desc.InputWindowStrides, from.rank()), 0));
}

Made slice(const DML_SLICE_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_SLICE, options);
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
  Dims steps = dims_of(desc.Strides, from.rank());
  for (int d = 0; d < from.rank(); ++d) {
    const auto reach = checked_mul(to.sizes[d] - 1, steps[d]);
    if (!reach || !checked_add(int64_t{desc.Offsets[d]}, *reach)) {
      reader.refuse("slice outside the tensor",
                    cat("dimension ", d, ": ", to.sizes[d], " entries from ", desc.Offsets[d],
                        " in steps of ", steps[d], " end after 2^63 - 1"),
                    "a slice inside the tensor");
    }
    if (to.sizes[d] == 1 && steps[d] != 0) {
      steps[d] = 1;  // it is never taken, and its product with a stride may be anything
    }
  }
  return reader.program(
      moves::slice(reader.name(), from, to, dims_of(desc.Offsets, from.rank()), steps),
      Sharing::kOperator);
}

// Two of the modes came later than the operator.
void check_mode_level(const Reader& reader, DML_PADDING_MODE mode) {
  const dml::DML_FEATURE_LEVEL since = mode == DML_PADDING_MODE_WRAP ? dml::DML_FEATURE_LEVEL_6_4
                                       : mode == DML_PADDING_MODE_SYMMETRIC
                                           ? dml::DML_FEATURE_LEVEL_3_0
                                           : dml::DML_FEATURE_LEVEL_1_0;
  if (reader.level() < since) {
    reader.refuse(
        "feature level too low",
        cat("PaddingMode = ", static_cast<int>(mode), " needs ", dml::detail::level_name(since)),
        "another mode, or a device of a higher level");
  }
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
  check_mode_level(reader, desc.PaddingMode);
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

Made padding(const DML_PADDING_OPERATOR_DESC& desc, const Options& options) {
  return pad(desc, Reader(DML_OPERATOR_PADDING, options),
             [&](const Reader&, const TensorSpec& to) -> Scalar {
               // A float for every type; what an integer type cannot hold is refused.
               const double number = static_cast<double>(desc.PaddingValue);
               return to.dtype.is_integer() ? Scalar(std::trunc(number)) : Scalar(number);
             });
}

Made padding1(const DML_PADDING1_OPERATOR_DESC& desc, const Options& options) {
  return pad(desc, Reader(DML_OPERATOR_PADDING1, options),
             [&](const Reader& reader, const TensorSpec& to) {
               return reader.scalar(desc.PaddingValueDataType, desc.PaddingValue, to);
             });
}

Made reverse_subsequences(const DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC& desc,
                          const Options& options) {
  Reader reader(DML_OPERATOR_REVERSE_SUBSEQUENCES, options);
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec lengths =
      reader.index_input("SequenceLengthsTensor", desc.SequenceLengthsTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(from, lengths);
  reader.check_axis(desc.Axis, from);
  return reader.program(moves::reverse_subsequences(reader.name(), from, lengths, to, desc.Axis));
}

Made one_hot(const DML_ONE_HOT_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_ONE_HOT, options);
  const TensorSpec indices = reader.index_input("IndicesTensor", desc.IndicesTensor);
  const TensorSpec values = reader.input("ValuesTensor", desc.ValuesTensor);
  const TensorSpec to = reader.output("OutputTensor", desc.OutputTensor);
  reader.check_same_rank(indices, to);
  reader.check_axis(desc.Axis, to);
  return reader.program(moves::one_hot(reader.name(), indices, values, to, desc.Axis));
}

Made nonzero(const DML_NONZERO_COORDINATES_OPERATOR_DESC& desc, const Options& options) {
  Reader reader(DML_OPERATOR_NONZERO_COORDINATES, options);
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec count = reader.index_output("OutputCountTensor", desc.OutputCountTensor);
  const TensorSpec coordinates =
      reader.index_output("OutputCoordinatesTensor", desc.OutputCoordinatesTensor);
  return reader.program(moves::nonzero(reader.name(), from, count, coordinates));
}

Made top_k_of(Reader reader, const DML_TOP_K1_OPERATOR_DESC& desc) {
  const TensorSpec from = reader.input("InputTensor", desc.InputTensor);
  const TensorSpec values = reader.output("OutputValueTensor", desc.OutputValueTensor);
  const TensorSpec places = reader.index_output("OutputIndexTensor", desc.OutputIndexTensor);
  reader.check_same_rank(from, values);
  reader.check_same_rank(from, places);
  reader.check_same_type(from, values);
  reader.check_axis(desc.Axis, from);
  const int64_t entries = from.sizes[static_cast<int>(desc.Axis)];
  if (desc.K == 0 || desc.K > entries) {
    reader.refuse("K out of range", cat("K = ", desc.K, ", but Axis has ", entries, " entries"),
                  cat("K from 1 to ", entries));
  }
  if (values.sizes[static_cast<int>(desc.Axis)] != desc.K) {
    reader.refuse("output has the wrong shape",
                  cat("OutputValueTensor.Sizes = ", braced(values.sizes), ", but K = ", desc.K),
                  "K entries along Axis");
  }
  const bool largest = desc.AxisDirection != DML_AXIS_DIRECTION_INCREASING;
  return reader.program(moves::top_k(reader.name(), from, values, places, desc.Axis, largest));
}

Made top_k(const DML_TOP_K_OPERATOR_DESC& desc, const Options& options) {
  return top_k_of(Reader(DML_OPERATOR_TOP_K, options),
                  {desc.InputTensor, desc.OutputValueTensor, desc.OutputIndexTensor, desc.Axis,
                   desc.K, DML_AXIS_DIRECTION_DECREASING});
}

Made top_k1(const DML_TOP_K1_OPERATOR_DESC& desc, const Options& options) {
  return top_k_of(Reader(DML_OPERATOR_TOP_K1, options), desc);
}

// A row of the table: what to do with the descriptor of an operator.
struct Entry {
  DML_OPERATOR_TYPE type;
  Made (*read)(const void* desc, const Options& options);
};

template <class Desc, Made (*kRead)(const Desc&, const Options&)>
Made read_as(const void* desc, const Options& options) {
  return kRead(*static_cast<const Desc*>(desc), options);
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
    {DML_OPERATOR_TOP_K, read_as<DML_TOP_K_OPERATOR_DESC, top_k>},
    {DML_OPERATOR_TOP_K1, read_as<DML_TOP_K1_OPERATOR_DESC, top_k1>},
    {DML_OPERATOR_NONZERO_COORDINATES, read_as<DML_NONZERO_COORDINATES_OPERATOR_DESC, nonzero>},
};

}  // namespace

std::shared_ptr<const Program> read_neighbour(const DML_OPERATOR_DESC& desc,
                                              const dml::DeviceOptions& options) {
  for (const Entry& entry : kNeighbours) {
    if (entry.type == desc.Type && desc.Desc != nullptr) {
      return entry.read(desc.Desc, options);
    }
  }
  return nullptr;
}

}  // namespace sheaf::dml_com

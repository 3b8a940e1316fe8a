// SPDX-License-Identifier: MIT
//
// Encoded tensors: names, sizes, and what is wrong with a description.
#include "plan/encoded_rows.h"

#include <algorithm>
#include <array>

#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "plan/vocabulary.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

struct EncodingRow {
  Encoding value;
  std::string_view name;
};
#define SHEAF_ROW(Name, name) EncodingRow{Encoding::k##Name, name},
constexpr std::array kEncodings = {EncodingRow{Encoding::kPlain, "plain"},
                                   SHEAF_ENCODINGS(SHEAF_ROW)};
#undef SHEAF_ROW

using Problem = std::optional<EncodedProblem>;

int64_t codes_per_byte(Encoding encoding) {
  const int bits = code_bits(encoding);
  return bits == 0 ? 1 : 8 / bits;
}

// The bytes of a row; nothing if the encoding has no rows of this length, or they leave int64.
std::optional<int64_t> row_bytes(Encoding encoding, int64_t elements) {
  if (has_blocks(encoding)) {
    const BlockShape block = block_shape(encoding);
    return block.elements != 0 && elements % block.elements == 0
               ? checked_mul(elements / block.elements, block.bytes)
               : std::nullopt;
  }
  if (code_bits(encoding) == 0) {
    return std::nullopt;
  }
  const int64_t codes = pieces_of(elements, codes_per_byte(encoding));
  const int64_t beside = !has_scale_in_row(encoding) ? 0 : encoding == Encoding::kRowU8F32 ? 8 : 4;
  return checked_add(codes, beside);
}

// The distance between rows of all dimensions but the last, if there is one; 0 for at most one row.
std::optional<int64_t> one_distance(const TensorSpec& spec) {
  if (std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end()) {
    return 0;  // no stride is used
  }
  int64_t distance = 0;
  int64_t next = 0;  // what the stride of the next outer dimension has to be; 0: anything
  for (int d = spec.rank() - 2; d >= 0; --d) {
    if (spec.sizes[d] == 1) {
      continue;
    }
    if (next != 0 && spec.strides[d] != next) {
      return std::nullopt;
    }
    if (next == 0) {
      distance = spec.strides[d];
    }
    const auto wanted = checked_mul(spec.sizes[d], spec.strides[d]);
    if (!wanted) {
      return std::nullopt;
    }
    next = *wanted;
    if (next == 0) {  // rows that lie on top of each other may not be followed by others
      next = INT64_MIN;
    }
  }
  return distance;
}

bool is_contiguous(const TensorSpec& spec) {
  const Dims strides = contiguous_strides(spec.sizes);
  for (int d = 0; d < spec.rank(); ++d) {
    if (spec.sizes[d] > 1 && spec.strides[d] != strides[d]) {
      return false;
    }
  }
  return true;
}

Problem malformed_tensor(const TensorSpec& spec, const char* tensor) {
  bool sound = spec.dtype.is_known() && spec.strides.size() == spec.sizes.size();
  for (int d = 0; sound && d < spec.rank(); ++d) {
    sound = spec.sizes[d] >= 0;
  }
  int64_t count = 1;
  for (int d = 0; sound && d < spec.rank(); ++d) {
    const auto product = checked_mul(count, std::max<int64_t>(spec.sizes[d], 1));
    sound = product.has_value();
    count = product.value_or(0);
  }
  if (sound && byte_range(spec)) {
    return std::nullopt;
  }
  return EncodedProblem{"malformed tensor",
                        cat(tensor,
                            " has an unknown type, negative sizes, strides that do not "
                            "match its sizes, or sizes beyond 2^63 - 1"),
                        "check how the shape was computed", tensor};
}

Problem problem_of_stored(const EncodedSpec& spec) {
  if (spec.stored.dtype != u8) {
    return EncodedProblem{"stored elements are not bytes",
                          cat("stored is ", spec.stored.dtype.name(), ", but ",
                              to_string(spec.encoding), " is kept in bytes"),
                          "the same memory as u8", "stored"};
  }
  const int rank = spec.sizes.size();
  if (rank == 0 || spec.stored.rank() != rank) {
    return EncodedProblem{
        "ranks differ",
        cat("stored is ", bracketed(spec.stored.sizes), " and the tensor ", bracketed(spec.sizes)),
        "the tensor's sizes with the bytes of a row in place of the last", "stored"};
  }
  const auto bytes = row_bytes(spec.encoding, spec.sizes.back());
  if (!bytes) {
    return EncodedProblem{
        "rows of another length",
        cat("a row has ", spec.sizes.back(), " elements, but ", to_string(spec.encoding),
            " has blocks of ", block_shape(spec.encoding).elements),
        "rows of whole blocks", "stored"};
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t wanted = d + 1 == rank ? *bytes : spec.sizes[d];
    if (spec.stored.sizes[d] != wanted) {
      return EncodedProblem{"stored has the wrong shape",
                            cat("dimension ", d, " of stored has ", spec.stored.sizes[d],
                                " entries, but ", spec.str(), " takes ", wanted),
                            "the bytes as the encoder wrote them", "stored"};
    }
  }
  const bool side_by_side = spec.stored.sizes.back() <= 1 || spec.stored.strides.back() == 1;
  if (!side_by_side || !one_distance(spec.stored)) {
    return EncodedProblem{"rows are not at one distance",
                          cat("the strides of stored are ", bracketed(spec.stored.strides)),
                          "a contiguous copy of the bytes", "stored"};
  }
  return std::nullopt;
}

int64_t normal_axis(const EncodedSpec& spec) {
  return spec.axis < 0 ? spec.axis + spec.sizes.size() : spec.axis;
}

// The sizes of the scales: those of the tensor, with blocks along `axis`.
Dims block_sizes(const EncodedSpec& spec) {
  Dims sizes = spec.sizes;
  const auto axis = static_cast<int>(normal_axis(spec));
  const int64_t block = spec.block == 0 ? std::max<int64_t>(sizes[axis], 1) : spec.block;
  sizes[axis] = pieces_of(sizes[axis], block);
  return sizes;
}

bool is_one_for_all(const TensorSpec& spec) { return element_count(spec.sizes) == 1; }

bool scale_type_fits(DType type) {
  return type == f32 || type == f16 || type == bf16 || type == f8e4m3 || type == u8;
}

Problem problem_of_scales(const EncodedSpec& spec) {
  if (!spec.scales) {
    return EncodedProblem{"no scales",
                          cat(to_string(spec.encoding), " codes have scales beside them"),
                          "scales, or one scale of 1", "scales"};
  }
  const auto rank = static_cast<int64_t>(spec.sizes.size());
  if (spec.axis < -rank || spec.axis >= rank || spec.block < 0) {
    return EncodedProblem{"blocks along no axis",
                          cat("axis = ", spec.axis, " and block = ", spec.block, ", but there are ",
                              counted(rank, "dimension", "dimensions")),
                          "an axis of the tensor, and a block of 1 or more, or 0 for all",
                          "scales"};
  }
  if (!scale_type_fits(spec.scales->dtype)) {
    return EncodedProblem{"scales of another type", cat("scales is ", spec.scales->dtype.name()),
                          "f32, f16, bf16, f8e4m3, or u8 for powers of two (e8m0)", "scales"};
  }
  const Dims wanted = block_sizes(spec);
  if (!is_one_for_all(*spec.scales) && spec.scales->sizes != wanted) {
    return EncodedProblem{
        "scales have the wrong shape",
        cat("scales is ", bracketed(spec.scales->sizes), ", but ", spec.str(), " with blocks of ",
            spec.block, " along axis ", spec.axis, " takes ", bracketed(wanted)),
        cat("scales of shape ", bracketed(wanted), ", or one for all"), "scales"};
  }
  return is_contiguous(*spec.scales)
             ? Problem()
             : EncodedProblem{"scales have gaps",
                              cat("the strides of scales are ", bracketed(spec.scales->strides)),
                              "a contiguous copy", "scales"};
}

bool is_packed(const EncodedSpec& spec) {
  const int bits = code_bits(spec.encoding);
  return bits != 8 && (spec.zeros->dtype == u8 || spec.zeros->dtype == i8);
}

Dims zero_sizes(const EncodedSpec& spec) {
  Dims sizes = spec.scales->sizes;
  if (is_packed(spec) && sizes.size() > 0) {
    sizes.back() = pieces_of(sizes.back(), codes_per_byte(spec.encoding));
  }
  return sizes;
}

Problem problem_of_zeros(const EncodedSpec& spec) {
  const DType type = spec.zeros->dtype;
  const bool is_bias = type == f32 || type == f16 || type == bf16;
  if (!is_bias && type != u8 && type != i8) {
    return EncodedProblem{"zeros of another type", cat("zeros is ", type.name()),
                          "f32, f16 or bf16 biases, u8 or i8 zero points", "zeros"};
  }
  const Dims wanted = zero_sizes(spec);
  if (spec.zeros->sizes != wanted) {
    return EncodedProblem{"zeros have the wrong shape",
                          cat("zeros is ", bracketed(spec.zeros->sizes), ", but scales of ",
                              bracketed(spec.scales->sizes), " go with ", bracketed(wanted)),
                          cat("zeros of shape ", bracketed(wanted)), "zeros"};
  }
  return is_contiguous(*spec.zeros)
             ? Problem()
             : EncodedProblem{"zeros have gaps",
                              cat("the strides of zeros are ", bracketed(spec.zeros->strides)),
                              "a contiguous copy", "zeros"};
}

// Rows of a plain tensor: everything behind the first dimension, if that is one run of elements at
// one distance.
Problem problem_of_plain(const EncodedSpec& spec) {
  if (spec.scales || spec.zeros) {
    return EncodedProblem{"scales of plain elements",
                          cat("data is ", spec.stored.str(), ", which has no scales"),
                          "an encoding, or no scales", "scales"};
  }
  if (spec.stored.sizes != spec.sizes) {
    return EncodedProblem{"sizes differ",
                          cat("the tensor is ", bracketed(spec.sizes), ", but its elements ",
                              bracketed(spec.stored.sizes)),
                          "the sizes of the elements", "data"};
  }
  return std::nullopt;
}

void set_scales(const EncodedSpec& spec, EncodedRows& rows) {
  rows.scale_type = spec.scales->dtype;
  rows.e8m0 = rows.scale_type == u8;
  rows.usual_zero = static_cast<float>(spec.usual_zero);
  if (spec.zeros) {
    rows.has_zeros = true;
    rows.zero_type = spec.zeros->dtype;
    rows.adds_bias = rows.zero_type != u8 && rows.zero_type != i8;
    rows.zero_bits = is_packed(spec) ? code_bits(spec.encoding) : 0;
  }
  rows.scale_columns =
      spec.scales->rank() == 0 ? 1 : std::max<int64_t>(spec.scales->sizes.back(), 1);
  if (is_one_for_all(*spec.scales)) {
    return;
  }
  const auto axis = static_cast<int>(normal_axis(spec));
  const int last = spec.sizes.size() - 1;
  const int64_t block = spec.block == 0 ? std::max<int64_t>(spec.sizes[axis], 1) : spec.block;
  if (axis == last) {
    rows.block_elements = block;
    rows.element_step = 1;
    rows.outer_step = rows.scale_columns;
    return;
  }
  rows.extent = spec.sizes[axis];
  rows.block_rows = block;
  for (int d = axis + 1; d < last; ++d) {
    rows.inner *= spec.sizes[d];
  }
  rows.inner = std::max<int64_t>(rows.inner, 1);
  rows.extent = std::max<int64_t>(rows.extent, 1);
  rows.element_step = 1;
  rows.inner_step = rows.scale_columns;
  rows.axis_step = rows.inner * rows.inner_step;
  rows.outer_step = pieces_of(rows.extent, block) * rows.axis_step;
}

}  // namespace

std::string_view to_string(Encoding encoding) {
  const EncodingRow* const row = find_row(kEncodings, encoding);
  return row == nullptr ? "?" : row->name;
}

Encoding encoding_from_name(const std::string& name) {
  if (const EncodingRow* const row = find_named(kEncodings, name)) {
    return row->value;
  }
  refuse_tensor({Reason::kOption}, "unknown encoding", cat("there is no encoding \"", name, "\""),
                "", names_of(kEncodings));
}

std::string EncodedSpec::str() const {
  return encoding == Encoding::kPlain ? stored.str() : cat(to_string(encoding), bracketed(sizes));
}

int64_t encoded_row_bytes(Encoding encoding, int64_t elements) {
  const auto bytes = elements < 0 ? std::nullopt : row_bytes(encoding, elements);
  if (!bytes) {
    refuse_tensor({Reason::kShape, "data"}, "rows of another length",
                  cat(to_string(encoding), " has no rows of ", elements, " elements"), "",
                  "rows of whole blocks");
  }
  return *bytes;
}

EncodedSpec encoded_rows(Encoding encoding, const Dims& sizes) {
  EncodedSpec spec;
  spec.encoding = encoding;
  spec.sizes = sizes;
  Dims stored = sizes;
  if (!stored.empty()) {
    stored.back() = encoded_row_bytes(encoding, sizes.back());
  }
  spec.stored = TensorSpec(u8, stored);
  return spec;
}

std::optional<EncodedProblem> problem_of(const EncodedSpec& spec) {
  if (find_row(kEncodings, spec.encoding) == nullptr) {
    return EncodedProblem{"unknown encoding",
                          cat("encoding = ", static_cast<int>(spec.encoding), ", but 0..",
                              kEncodings.size() - 1, " have a meaning"),
                          "one of the named encodings", "data"};
  }
  for (const auto& [tensor, name] : {std::pair{&spec.stored, "stored"},
                                     {spec.scales ? &*spec.scales : nullptr, "scales"},
                                     {spec.zeros ? &*spec.zeros : nullptr, "zeros"}}) {
    if (tensor != nullptr) {
      if (Problem problem = malformed_tensor(*tensor, name)) {
        return problem;
      }
    }
  }
  if (spec.encoding == Encoding::kPlain) {
    return problem_of_plain(spec);
  }
  TensorSpec decoded;  // its constructor would refuse in other words
  decoded.dtype = u8;
  decoded.sizes = spec.sizes;
  decoded.strides = Dims(spec.sizes.size(), 0);
  if (Problem problem = malformed_tensor(decoded, "data")) {
    return problem;
  }
  if (Problem problem = problem_of_stored(spec)) {
    return problem;
  }
  if (!has_scales_beside(spec.encoding)) {
    return spec.scales || spec.zeros
               ? EncodedProblem{"scales in two places",
                                cat(to_string(spec.encoding), " has its scales in its rows"),
                                "no scales and no zeros", "scales"}
               : Problem();
  }
  if (Problem problem = problem_of_scales(spec)) {
    return problem;
  }
  return spec.zeros ? problem_of_zeros(spec) : std::nullopt;
}

EncodedRows rows_of(const EncodedSpec& spec) {
  EncodedRows rows;
  rows.encoding = spec.encoding;
  rows.elements = spec.sizes.back();
  rows.rows = 1;
  for (int d = 0; d + 1 < spec.sizes.size(); ++d) {
    rows.rows *= spec.sizes[d];
  }
  rows.row_stride = *one_distance(spec.stored);
  if (has_scales_beside(spec.encoding)) {
    set_scales(spec, rows);
  }
  return rows;
}

}  // namespace sheaf

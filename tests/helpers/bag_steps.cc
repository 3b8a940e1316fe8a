// SPDX-License-Identifier: MIT
#include "helpers/bag_steps.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "helpers/decode_oracle.h"
#include "helpers/scatter_oracle.h"
#include "helpers/small_float.h"

namespace oracle {
namespace {

using sheaf::DType;
using sheaf::EncodedSpec;
using sheaf::Encoding;
using sheaf::IndexRule;
using sheaf::Negative;
using sheaf::OutOfRange;
using sheaf::Pool;
using sheaf::Reduction;
using sheaf::Scalar;
using sheaf::SegmentForm;

using BagReal = long double;
using BagWhole = __int128;

bool is_narrow(DType type) {
  return type == sheaf::f16 || type == sheaf::bf16 || type == sheaf::f8e4m3 ||
         type == sheaf::f8e5m2;
}

BagWhole whole_at(DType type, const std::byte* at) {
  BagWhole value = 0;
  for (int64_t byte = type.bytes(); byte-- > 0;) {
    value = value * 256 + std::to_integer<int>(at[byte]);
  }
  const BagWhole range = BagWhole{1} << (8 * type.bytes());
  return type.is_signed_integer() && value >= range / 2 ? value - range : value;
}

BagReal real_at(DType type, const std::byte* at) {
  if (is_narrow(type)) {
    const BagWhole bits = whole_at(type.bytes() == 1 ? sheaf::u8 : sheaf::u16, at);
    return SmallFloat::of(type).value(static_cast<uint32_t>(bits));
  }
  if (type == sheaf::f64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The nearest number of a float type; a NaN is the one.
BagCell rounded_to(DType type, BagReal value) {
  BagCell cell;
  const auto store = [&](auto bits) { std::memcpy(cell.bytes, &bits, sizeof bits); };
  if (is_narrow(type)) {
    const SmallFloat& format = SmallFloat::of(type);
    const uint32_t bits = std::isnan(value) ? format.nan() : format.nearest(value);
    type.bytes() == 1 ? store(static_cast<uint8_t>(bits)) : store(static_cast<uint16_t>(bits));
  } else if (type == sheaf::f64) {
    store(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                            : static_cast<double>(value));
  } else {
    store(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value));
  }
  return cell;
}

}  // namespace

BagReal bag_number(DType type, const BagCell& cell) { return real_at(type, cell.bytes); }

BagCell scalar_cell(DType type, const Scalar& scalar) {
  const auto* const whole = std::get_if<int64_t>(&scalar.value());
  const double number =
      whole != nullptr ? static_cast<double>(*whole) : std::get<double>(scalar.value());
  if (type.is_integer() || type == sheaf::boolean) {
    BagCell cell;
    const auto value = static_cast<int64_t>(number);
    std::memcpy(cell.bytes, &value, static_cast<size_t>(type.bytes()));
    return cell;
  }
  if (type == sheaf::c64) {
    return rounded_to(sheaf::f32, number);
  }
  return rounded_to(type == sheaf::c128 ? sheaf::f64 : type, number);
}

BagCell converted_cell(DType from, const std::byte* element, DType to) {
  if (from == to) {
    BagCell cell;
    std::memcpy(cell.bytes, element, static_cast<size_t>(to.bytes()));
    return cell;
  }
  return rounded_to(to, real_at(from, element));
}

int64_t entries_of(const BagProblem& problem) {
  return problem.specs.indices ? element_count(problem.specs.indices->sizes)
                               : problem.specs.data.sizes[0];
}

int64_t row_of_entry(const BagProblem& problem, int64_t p) {
  const IndexRule& rule = problem.options.rule;
  const BagWhole extent = problem.specs.data.sizes[0];
  if (!problem.specs.indices) {
    return p;
  }
  const BagWhole index = whole_at(problem.specs.indices->dtype, problem.indices.element(p));
  BagWhole row = index + (index < 0 && rule.negative == Negative::kFromEnd ? extent : 0);
  if (row < 0 || row >= extent) {
    switch (rule.out_of_range) {
      case OutOfRange::kClamp: row = index < 0 ? 0 : extent - 1; break;
      case OutOfRange::kWrap: row = (index % extent + extent) % extent; break;
      case OutOfRange::kFill: return kFilledRow;
      default: return kNoRow;
    }
  }
  const auto padding = problem.options.padding_index;
  const bool left_out = padding && row == (*padding < 0 ? *padding + extent : *padding);
  return left_out ? kNoRow : static_cast<int64_t>(row);
}

std::vector<std::vector<int64_t>> entries_of_bags(const BagProblem& problem) {
  const int64_t bags = problem.plan().output().sizes[0];
  const int64_t entries = entries_of(problem);
  std::vector<std::vector<int64_t>> all(static_cast<size_t>(bags));
  const auto& spec = problem.specs.segments;
  const auto segment = [&](int64_t i) {
    return static_cast<int64_t>(whole_at(spec->dtype, problem.segments.element(i)));
  };
  if (spec && problem.options.segments == SegmentForm::kIds) {
    for (int64_t p = 0; p < entries; ++p) {
      all[static_cast<size_t>(segment(p))].push_back(p);
    }
    return all;
  }
  int64_t begin = 0;
  for (int64_t s = 0; s < bags; ++s) {
    int64_t end = entries;
    if (!spec) {
      end = begin + problem.specs.indices->sizes[1];
    } else if (problem.options.segments == SegmentForm::kLengths) {
      end = begin + segment(s);
    } else if (s + 1 < spec->sizes[0]) {
      end = segment(s + 1);
    }
    for (; begin < end; ++begin) {
      all[static_cast<size_t>(s)].push_back(begin);
    }
  }
  return all;
}

ComputedRows::ComputedRows(const BagProblem& problem) : problem_(problem) {
  const EncodedSpec& data = problem.specs.data;
  const DType type = data.stored.dtype;
  const bool encoded = data.encoding != Encoding::kPlain;
  output_ = problem.options.output_type.value_or(encoded ? sheaf::f32 : type);
  const bool widened = (encoded || is_narrow(type)) && problem.options.accumulate_f32;
  computed_ = widened ? sheaf::f32 : output_;
  for (int d = 1; d < data.sizes.size(); ++d) {
    elements_ *= data.sizes[d];
  }
  convert_table();
}

// Every element of data, decoded.
void ComputedRows::convert_table() {
  const EncodedSpec& data = problem_.specs.data;
  if (data.encoding != Encoding::kPlain) {
    for (const float value : decoded_table(data, problem_.stored.start(), problem_.scales.start(),
                                           problem_.zeros.start())) {
      table_.push_back(rounded_to(computed_, value));
    }
    return;
  }
  for (int64_t i = 0; i < element_count(data.sizes); ++i) {
    table_.push_back(converted_cell(data.stored.dtype, problem_.stored.element(i), computed_));
  }
}

BagCell ComputedRows::weight(int64_t entry) const {
  const auto& spec = problem_.specs.weights;
  return spec ? converted_cell(spec->dtype, problem_.weights.element(entry), computed_)
              : scalar_cell(computed_, 1);
}

BagCell ComputedRows::element(int64_t row, int64_t e) const {
  return row == kFilledRow ? scalar_cell(computed_, problem_.options.rule.fill_value)
                           : table_[static_cast<size_t>(row * elements_ + e)];
}

BagCell ComputedRows::weighted(int64_t row, int64_t e, const BagCell& weight) const {
  BagCell value = element(row, e);
  if (problem_.specs.weights) {
    join(computed_, Reduction::kMul, value.bytes, weight.bytes);
  }
  return value;
}

void ComputedRows::finish(BagCell& sum, int64_t count) const {
  if (problem_.options.pool == Pool::kMean) {
    divide(computed_, sum.bytes, count);
  } else if (problem_.options.pool == Pool::kSqrtN) {
    const auto value = static_cast<double>(real_at(computed_, sum.bytes));
    sum = rounded_to(computed_, value / std::sqrt(static_cast<double>(count)));
  }
}

}  // namespace oracle

// SPDX-License-Identifier: MIT
#include "frontends/c/options.h"

#include <complex>
#include <span>

#include "plan/reductions.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {

void refuse_option(const Request& r, const char* field, int64_t value, int last) {
  refuse(r, {Reason::kOption}, "unknown option",
         cat(field, " = ", value, ", but 0..", last, " has a meaning"),
         "a constant of sheaf/c.h; a struct set to {0} has the defaults");
}

Scalar scalar(const Request& r, const char* field, const sheaf_scalar& value) {
  switch (value.kind) {
    case SHEAF_SCALAR_INT: return value.value.as_int;
    case SHEAF_SCALAR_UINT: return value.value.as_uint;
    case SHEAF_SCALAR_FLOAT: return value.value.as_float;
    case SHEAF_SCALAR_COMPLEX:
      return std::complex<double>(value.value.as_complex[0], value.value.as_complex[1]);
    default: refuse_option(r, cat(field, ".kind").c_str(), value.kind, SHEAF_SCALAR_COMPLEX);
  }
}

IndexRule index_rule(const Request& r, const sheaf_index_rule& rule) {
  IndexRule result = usual_rule(r.op);
  switch (rule.negative) {
    case SHEAF_NEGATIVE_DEFAULT: break;
    case SHEAF_NEGATIVE_FROM_END: result.negative = Negative::kFromEnd; break;
    case SHEAF_NEGATIVE_OUT_OF_RANGE: result.negative = Negative::kOutOfRange; break;
    default: refuse_option(r, "rule.negative", rule.negative, SHEAF_NEGATIVE_OUT_OF_RANGE);
  }
  switch (rule.out_of_range) {
    case SHEAF_OUT_OF_RANGE_DEFAULT: break;
    case SHEAF_FAIL: result.out_of_range = OutOfRange::kFail; break;
    case SHEAF_CLAMP: result.out_of_range = OutOfRange::kClamp; break;
    case SHEAF_FILL:
      result.out_of_range = OutOfRange::kFill;
      result.fill_value = scalar(r, "rule.fill_value", rule.fill_value);
      break;
    case SHEAF_WRAP: result.out_of_range = OutOfRange::kWrap; break;
    case SHEAF_TRUST: result.out_of_range = OutOfRange::kTrust; break;
    case SHEAF_SKIP: result.out_of_range = OutOfRange::kSkip; break;
    default: refuse_option(r, "rule.out_of_range", rule.out_of_range, SHEAF_SKIP);
  }
  return result;
}

// The constants of sheaf/c.h are those of the enumeration.
static_assert(SHEAF_REDUCE_ADD == static_cast<int>(Reduction::kAdd) &&
              SHEAF_REDUCE_MEAN == static_cast<int>(Reduction::kMean));

Reduction reduction(const Request& r, int32_t value) {
  constexpr int kLast = static_cast<int>(kReductions.size()) - 1;
  if (value < 0 || value > kLast) {
    refuse_option(r, "reduction", value, kLast);
  }
  return kReductions[static_cast<size_t>(value)].value;
}

Dims dims(const Request& r, const char* field, const sheaf_dims& list) {
  if (list.count < 0 || list.count > kMaxRank) {
    refuse(r, {Reason::kRank}, cat(field, " has the wrong length"),
           cat(field, ".count = ", list.count, ", but 0..", kMaxRank, " is supported"),
           "one entry for each dimension that is named");
  }
  if (list.values == nullptr && list.count > 0) {
    refuse(r, {Reason::kNull}, "null pointer",
           cat(field, ".count = ", list.count, ", but .values is null"), "the list's entries");
  }
  return Dims(std::span<const int64_t>(list.values, static_cast<size_t>(list.count)));
}

}  // namespace sheaf

sheaf_scalar sheaf_int(int64_t value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_INT, {}};
  scalar.value.as_int = value;
  return scalar;
}

sheaf_scalar sheaf_uint(uint64_t value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_UINT, {}};
  scalar.value.as_uint = value;
  return scalar;
}

sheaf_scalar sheaf_float(double value) {
  sheaf_scalar scalar = {SHEAF_SCALAR_FLOAT, {}};
  scalar.value.as_float = value;
  return scalar;
}

sheaf_scalar sheaf_complex(double real, double imaginary) {
  sheaf_scalar scalar = {SHEAF_SCALAR_COMPLEX, {}};
  scalar.value.as_complex[0] = real;
  scalar.value.as_complex[1] = imaginary;
  return scalar;
}

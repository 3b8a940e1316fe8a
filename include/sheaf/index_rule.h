// SPDX-License-Identifier: MIT
//
// What an index value means. First `negative`: does -1 count from the end, or is it out of range?
// Then `out_of_range`: what happens to a value that is still outside [0, extent).
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "sheaf/dtype.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class Negative : uint8_t {
  kFromEnd,     // -1 is the last entry, -extent the first
  kOutOfRange,  // every negative value is out of range
};

enum class OutOfRange : uint8_t {
  kFail,   // throw IndexError, naming the first bad index; the output is untouched
  kClamp,  // use the nearest entry
  kFill,   // write `fill_value` instead
  kWrap,   // take the value modulo the extent
  kTrust,  // the caller promises that it never happens; nothing is checked
  kSkip,   // leave the update out (scatters only)
};

std::string_view to_string(Negative negative);        // "from_end", "out_of_range"
std::string_view to_string(OutOfRange out_of_range);  // "fail", "clamp", "fill", "wrap", …

// A number of no particular type: converted to the data's type when a plan is made, which throws
// if it does not fit. Zero by default.
class Scalar {
 public:
  Scalar() = default;
  template <class T>  // not a plain Scalar(bool): every pointer would convert to that
  requires std::is_integral_v<T> Scalar(T value) {
    if constexpr (std::is_signed_v<T>) {
      value_ = int64_t{value};
    } else {
      value_ = uint64_t{value};
    }
  }
  Scalar(double value) : value_(value) {}
  Scalar(std::complex<double> value) : value_(value) {}

  using Value = std::variant<int64_t, uint64_t, double, std::complex<double>>;
  const Value& value() const { return value_; }

  // The same bits of the same type: -0.0 is not 0.0, 1.0 is not 1, and a NaN equals itself.
  friend bool operator==(const Scalar& a, const Scalar& b);

 private:
  Value value_ = int64_t{0};
};

struct IndexRule {
  Negative negative = Negative::kFromEnd;
  OutOfRange out_of_range = OutOfRange::kFail;
  Scalar fill_value = {};  // only read by kFill

  friend bool operator==(const IndexRule&, const IndexRule&) = default;
};

}  // namespace sheaf

#pragma GCC visibility pop

// SPDX-License-Identifier: MIT
#include "support/number_text.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <version>

namespace sheaf {
namespace {

// A number as digits and a power of ten.
struct Decimal {
  std::string digits;  // without the point
  int exponent;        // of the first digit
};

template <class Float>
Float read_back(const char* text) {
  if constexpr (std::is_same_v<Float, float>) {
    return std::strtof(text, nullptr);
  } else {
    return std::strtod(text, nullptr);
  }
}

// The fewest digits that read back as `value`, which is finite and positive. Only digits are taken
// from what printf writes: its point depends on the locale.
template <class Float>
Decimal shortest_decimal(Float value) {
  constexpr int kMostDigits = std::is_same_v<Float, float> ? 9 : 17;
  char text[40];
  int digits = 0;
  do {
    ++digits;
    std::snprintf(text, sizeof text, "%.*e", digits - 1, static_cast<double>(value));
  } while (digits < kMostDigits && read_back<Float>(text) != value);
  Decimal decimal{"", 0};
  const char* at = text;
  for (; *at != 'e'; ++at) {
    if (*at >= '0' && *at <= '9') {
      decimal.digits += *at;
    }
  }
  decimal.exponent = std::atoi(at + 1);
  return decimal;
}

std::string scientific(const Decimal& d) {
  std::string text = d.digits;
  if (text.size() > 1) {
    text.insert(1, 1, '.');
  }
  char exponent[16];
  std::snprintf(exponent, sizeof exponent, "e%c%02d", d.exponent < 0 ? '-' : '+',
                std::abs(d.exponent));
  return text.append(exponent);
}

template <class Float>
std::string fixed(const Decimal& d, Float value) {
  std::string text = d.digits;
  if (d.exponent < 0) {
    text.insert(0, static_cast<size_t>(-d.exponent), '0');
    text.insert(1, 1, '.');
    return text;
  }
  if (const auto whole = static_cast<size_t>(d.exponent) + 1; whole < text.size()) {
    text.insert(whole, 1, '.');
    return text;
  }
  // A whole number is written exactly: its last digits are not zeros where the shortest ones end.
  char exact[400];
  std::snprintf(exact, sizeof exact, "%.0f", static_cast<double>(value));
  return exact;
}

template <class Float>
std::string shortest(Float value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? "-nan" : "nan";
  }
  const std::string sign = std::signbit(value) ? "-" : "";
  const Float magnitude = std::fabs(value);
  if (std::isinf(value) || magnitude == 0) {
    return sign + (magnitude == 0 ? "0" : "inf");
  }
  const Decimal decimal = shortest_decimal(magnitude);
  const std::string plain = fixed(decimal, magnitude);
  const std::string with_exponent = scientific(decimal);
  return sign + (plain.size() <= with_exponent.size() ? plain : with_exponent);
}

}  // namespace

namespace without_charconv {

std::string shortest_text(float value) { return shortest(value); }
std::string shortest_text(double value) { return shortest(value); }

std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  // The longest start that is a decimal number: strtod would also take spaces, '+' and hex.
  const char* at = begin;
  const auto digits = [&] {
    const char* first = at;
    while (at != end && *at >= '0' && *at <= '9') {
      ++at;
    }
    return at != first;
  };
  if (at != end && *at == '-') {
    ++at;
  }
  bool any = digits();
  if (at != end && *at == '.') {
    const char* point = at++;
    const bool fraction = digits();
    any = any || fraction;
    at = any ? at : point;
  }
  if (!any) {
    return {begin, std::errc::invalid_argument};
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* exponent = at++;
    if (at != end && (*at == '+' || *at == '-')) {
      ++at;
    }
    at = digits() ? at : exponent;
  }
  const std::string number(begin, at);
  errno = 0;
  const double read = std::strtod(number.c_str(), nullptr);
  if (errno == ERANGE && (std::isinf(read) || read == 0)) {
    return {at, std::errc::result_out_of_range};
  }
  value = read;
  return {at, std::errc()};
}

}  // namespace without_charconv

#if defined(__cpp_lib_to_chars)
namespace {
template <class Float>
std::string by_to_chars(Float value) {
  char text[48];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
}  // namespace

std::string shortest_text(float value) { return by_to_chars(value); }
std::string shortest_text(double value) { return by_to_chars(value); }
std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}
#else
std::string shortest_text(float value) { return without_charconv::shortest_text(value); }
std::string shortest_text(double value) { return without_charconv::shortest_text(value); }
std::from_chars_result read_double(const char* begin, const char* end, double& value) {
  return without_charconv::read_double(begin, end, value);
}
#endif

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3 && text[i - 4] != '-'; i -= 3) {
    text.insert(i - 3, 1, ',');
  }
  return text;
}

}  // namespace sheaf

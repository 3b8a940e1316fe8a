// SPDX-License-Identifier: MIT
#include "support/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace sheaf;

namespace {

template <class Float>
void expect_same_text(Float value) {
  EXPECT_EQ(without_charconv::shortest_text(value), shortest_text(value));
}

struct Reading {
  double value = 42;
  std::errc error;
  ptrdiff_t length;
};

template <class Read>
Reading read(Read read_double, std::string_view text) {
  Reading reading;
  const auto result = read_double(text.data(), text.data() + text.size(), reading.value);
  reading.error = result.ec;
  reading.length = result.ptr - text.data();
  return reading;
}

void expect_same_reading(std::string_view text) {
  const Reading ours = read(without_charconv::read_double, text);
  const Reading theirs = read(sheaf::read_double, text);
  EXPECT_EQ(std::memcmp(&ours.value, &theirs.value, sizeof ours.value), 0) << text;
  EXPECT_EQ(ours.error, theirs.error) << text;
  EXPECT_EQ(ours.length, theirs.length) << text;
}

}  // namespace

TEST(NumberText, ShortestTextIsTheStandardLibrarys) {
  for (const double value :
       {0.0, -0.0, 0.1, 1.0, 100000.0, 123456789.0, 1e20, 1e23, 1.5e300, 5e-324, 1e-5, 0.001, 1e15,
        1e16, 9007199254740993.0, -2.5, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::max()}) {
    expect_same_text(value);
    expect_same_text(static_cast<float>(value));
  }
}

TEST(NumberText, ShortestTextOfRandomBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random();
    double wide = 0;
    float narrow = 0;
    std::memcpy(&wide, &bits, sizeof wide);
    std::memcpy(&narrow, &bits, sizeof narrow);
    if (std::isfinite(wide)) {
      expect_same_text(wide);
    }
    if (std::isfinite(narrow)) {
      expect_same_text(narrow);
    }
  }
}

TEST(NumberText, ReadingIsTheStandardLibrarys) {
  for (const char* text : {"",
                           "-",
                           ".",
                           "x",
                           "+1",
                           " 1",
                           "1",
                           "-1",
                           "1.",
                           ".5",
                           "-.5",
                           "1.5x",
                           "1e5",
                           "1e",
                           "1e+",
                           "1e-3",
                           "1E4",
                           "1e999",
                           "-1e999",
                           "1e-999",
                           "0x10",
                           "1,5",
                           "123456789012345678901234567890",
                           "1e+5,"}) {
    expect_same_reading(text);
  }
}

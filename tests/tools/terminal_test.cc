// SPDX-License-Identifier: MIT
#include "terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sheaf::cli {
namespace {

TEST(Terminal, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Terminal, WritesMebibytes) { EXPECT_EQ(mebibytes(3 << 19), "1.5 MiB"); }

TEST(Terminal, MakesTextPrintable) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "a?[31m??");
  EXPECT_EQ(printable("größe"), "größe");
}

TEST(Terminal, MeasuresUtf8) {
  EXPECT_EQ(text_width(""), 0);
  EXPECT_EQ(text_width("größe"), 5);
  EXPECT_EQ(text_width("… │"), 3);
}

TEST(Terminal, ChoosesColors) {
  EXPECT_TRUE(use_color(ColorChoice::kAlways));
  EXPECT_FALSE(use_color(ColorChoice::kNever));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(use_color(ColorChoice::kAuto));
  EXPECT_TRUE(use_color(ColorChoice::kAlways));
  unsetenv("NO_COLOR");
}

TEST(Terminal, TakesItsWidthFromTheEnvironment) {
  setenv("COLUMNS", "123", 1);
  EXPECT_EQ(terminal_width(), 123);
  setenv("COLUMNS", "5", 1);
  EXPECT_EQ(terminal_width(), 20);
  setenv("COLUMNS", "wide", 1);
  EXPECT_GE(terminal_width(), 20);
  unsetenv("COLUMNS");
}

}  // namespace
}  // namespace sheaf::cli

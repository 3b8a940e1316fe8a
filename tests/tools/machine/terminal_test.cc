// SPDX-License-Identifier: MIT
#include "machine/terminal.h"

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

TEST(Terminal, WritesBytesInWordsThatFit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(12 * 1024), "12 KiB");
  EXPECT_EQ(bytes_text(1500), "1.5 KiB");
  EXPECT_EQ(bytes_text(3 << 19), "1.5 MiB");
  EXPECT_EQ(bytes_text(256 << 20), "256 MiB");
  EXPECT_EQ(bytes_text((int64_t{1} << 20) - 1), "1 MiB");
  EXPECT_EQ(bytes_text(INT64_MAX), "8 EiB");
}

TEST(Terminal, BarsFit) {
  const std::string rate = "  100 MiB/s  3 min 20 s left";
  EXPECT_EQ(bar_line("gather", 0.5, rate, 100),
            "  gather                 ███████████████░░░░░░░░░░░░░░░  50 %" + rate);
  EXPECT_EQ(bar_line("gather", 0.5, rate, 80),
            "  gather                 ███████████████░░░░░░░░░░░░░░░  50 %");
  EXPECT_EQ(bar_line("gather", 1, rate, 41), "  gather                 ██████████ 100 %");
  for (int width = 10; width < 120; ++width) {
    for (const double share : {-1.0, 0.0, 0.3, 1.0, 7.0}) {
      const std::string line = bar_line("a label of more than 22 letters", share, rate, width);
      EXPECT_LE(text_width(line), width) << line;
      EXPECT_EQ(line.find("%") == std::string::npos, false);
    }
  }
}

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

// SPDX-License-Identifier: MIT
//
// What the terminal can do, and the little that we ask of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/utf8.h"  // printable(): names from files must not reach the terminal raw

namespace sheaf::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

// Whether to colour stdout. kAuto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
bool use_color(ColorChoice choice);

// The columns of stdout: COLUMNS where it is set, else what the terminal says, else 80.
int terminal_width();

// The columns that UTF-8 text takes, all characters being one wide.
int text_width(std::string_view text);

// 1234567 as "1,234,567".
std::string grouped(int64_t number);

// "256.0 MiB"
std::string mebibytes(int64_t bytes);

// "40 s", "3 min 20 s"
std::string duration_text(double seconds);

// A bar on stderr, which shows only where stderr is a terminal and is gone afterwards. What is
// counted in bytes has its rate and the time left beside it.
class Progress {
 public:
  enum Unit { kSteps, kBytes };
  Progress(std::string label, int64_t total, Unit unit = kSteps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(int64_t done);

 private:
  std::string rate_text(int64_t done) const;

  std::string label_;
  int64_t total_;
  Unit unit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int shown_ = -1;  // cells drawn last; -1: nothing yet
  bool enabled_;
};

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// What the terminal can do, the little that we ask of it, and what Ctrl-C does.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/number_text.h"  // grouped()
#include "support/utf8.h"         // printable(): names from files must not reach the terminal raw

namespace sheaf::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

// Whether to colour stdout. kAuto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
bool use_color(ColorChoice choice);

// The columns of stdout: COLUMNS where it is set, else what the terminal says, else 80.
int terminal_width();

// "12 bytes", "1.5 KiB", "256 MiB": at most three digits.
std::string bytes_text(int64_t bytes);

// "40 s", "3 min 20 s"
std::string duration_text(double seconds);

// The line of a bar: the label, a share of 30 cells, per cent and `rate`, in at most `width`
// columns. Where there is less room the rate goes first, then cells, then the end of the label.
std::string bar_line(const std::string& label, double share, const std::string& rate, int width);

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
  int shown_ = -1;  // per cent drawn last; -1: nothing yet
  bool enabled_;
};

// From here on Ctrl-C and SIGTERM end the program at once, with status 130 or 143, and leave no
// unfinished file behind.
void leave_nothing_on_interrupt();

}  // namespace sheaf::cli

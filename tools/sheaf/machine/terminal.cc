// SPDX-License-Identifier: MIT
#include "machine/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "sheaf/io.h"

namespace sheaf::cli {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kBarCells = 30;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool use_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) {
    return choice == ColorChoice::kAlways;
  }
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" &&
         isatty(STDOUT_FILENO) != 0;
}

namespace {

// The columns of a file descriptor: COLUMNS where it is set, else what the terminal says; 0: nobody
// says.
int columns_of(int file) {
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  winsize size{};
  if (width <= 0 && ioctl(file, TIOCGWINSZ, &size) == 0) {
    width = size.ws_col;
  }
  return width;
}

}  // namespace

int terminal_width() {
  const int width = columns_of(STDOUT_FILENO);
  return width > 0 ? std::clamp(width, 20, 1000) : kDefaultWidth;
}

std::string bar_line(const std::string& label, double share, const std::string& rate, int width) {
  constexpr int kLabel = 22, kPercent = 6, kMargins = 3;  // "  LABEL CELLS 100 %"
  const int full = kMargins + kLabel + kBarCells + kPercent;
  const bool rated = full + text_width(rate) <= width;
  const int cells = std::clamp(width - (full - kBarCells), 0, kBarCells);
  const int room = std::clamp(width - kMargins - kPercent - cells, 0, kLabel);
  std::string line = "  " + label.substr(0, static_cast<size_t>(room));
  line.append(static_cast<size_t>(std::max(0, room - text_width(label))), ' ');
  line += cells > 0 ? " " : "";
  const int done = static_cast<int>(std::clamp(share, 0.0, 1.0) * cells);
  for (int i = 0; i < cells; ++i) {
    line += i < done ? "█" : "░";
  }
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3.0f %%", std::clamp(share, 0.0, 1.0) * 100);
  return line + percent + (rated ? rate : "");
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  }
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const double tenths = std::round(value * 10) / 10;
  const bool whole = tenths >= 10 || tenths == std::floor(tenths);
  char text[32];
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string duration_text(double seconds) {
  const int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e9));
  const std::string rest = std::to_string(whole % 60) + " s";
  return whole < 60 ? rest : std::to_string(whole / 60) + " min " + rest;
}

Progress::Progress(std::string label, int64_t total, Unit unit)
    : label_(std::move(label)), total_(total), unit_(unit), enabled_(isatty(STDERR_FILENO) != 0) {
  at(0);
}

Progress::~Progress() {
  if (enabled_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
}

std::string Progress::rate_text(int64_t done) const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  if (unit_ != kBytes || done == 0 || passed.count() < 0.5) {
    return "";
  }
  const double rate = static_cast<double>(done) / passed.count();
  return "  " + bytes_text(static_cast<int64_t>(rate)) + "/s  " +
         duration_text(static_cast<double>(total_ - done) / rate) + " left";
}

void Progress::at(int64_t done) {
  const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1.0;
  const int percent = static_cast<int>(std::clamp(share, 0.0, 1.0) * 100);
  if (!enabled_ || percent == shown_) {
    return;
  }
  shown_ = percent;
  const int columns = columns_of(STDERR_FILENO);
  // The last column stays free: some terminals go to the next line when it is written.
  const int width = columns > 0 ? columns - 1 : kDefaultWidth - 1;
  std::fprintf(stderr, "\r\033[K%s", bar_line(label_, share, rate_text(done), width).c_str());
  std::fflush(stderr);
}

namespace {

void end_program(int signal) {
  remove_unfinished_files();
  constexpr char kClearLine[] = "\r\033[K";
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t ignored =
        write(STDERR_FILENO, kClearLine, sizeof kClearLine - 1);
  }
  _exit(128 + signal);
}

}  // namespace

void leave_nothing_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = end_program;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace sheaf::cli

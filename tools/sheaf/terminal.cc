// SPDX-License-Identifier: MIT
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

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

int terminal_width() {
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  winsize size{};
  if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    width = size.ws_col;
  }
  return width > 0 ? std::clamp(width, 20, 1000) : kDefaultWidth;
}

int text_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool between = i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0;
    text += between ? "," : "";
    text += digits[i];
  }
  return text;
}

std::string mebibytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
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
  return "  " + mebibytes(static_cast<int64_t>(rate)) + "/s  " +
         duration_text(static_cast<double>(total_ - done) / rate) + " left";
}

void Progress::at(int64_t done) {
  const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1.0;
  const int cells = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarCells);
  if (!enabled_ || cells == shown_) {
    return;
  }
  shown_ = cells;
  std::string bar;
  for (int i = 0; i < kBarCells; ++i) {
    bar += i < cells ? "█" : "░";
  }
  std::fprintf(stderr, "\r\033[K  %-22s %s %3.0f %%%s", label_.c_str(), bar.c_str(), share * 100,
               rate_text(done).c_str());
  std::fflush(stderr);
}

}  // namespace sheaf::cli

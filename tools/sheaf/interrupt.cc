// SPDX-License-Identifier: MIT
#include "interrupt.h"

#include <unistd.h>

#include <csignal>

#include "sheaf/io.h"

namespace sheaf::cli {
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

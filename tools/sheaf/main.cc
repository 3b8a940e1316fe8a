// SPDX-License-Identifier: MIT
//
// Runs the command line, and turns what went wrong into an exit status.
#include <cstdio>
#include <exception>
#include <new>

#include "command.h"
#include "sheaf/error.h"

int main(int argc, char** argv) {
  try {
    return sheaf::cli::run_command_line(argc, argv);
  } catch (const sheaf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fputs("sheaf: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sheaf: %s\n", error.what());
  }
  return sheaf::cli::kDataError;
}

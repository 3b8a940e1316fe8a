// SPDX-License-Identifier: MIT
//
// Runs the command line, and turns what went wrong into an exit status.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "command.h"
#include "sheaf/error.h"

namespace {

// What was printed may still be in a buffer, and the disk behind it full.
int check_printed(int status) {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout.good() && std::ferror(stdout) == 0) {
    return status;
  }
  std::fprintf(stderr, "sheaf: cannot write to standard output: %s\n",
               errno != 0 ? std::strerror(errno) : "an earlier write failed");
  return sheaf::cli::kDataError;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return check_printed(sheaf::cli::run_command_line(argc, argv));
  } catch (const sheaf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fputs("sheaf: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sheaf: %s\n", error.what());
  }
  return sheaf::cli::kDataError;
}

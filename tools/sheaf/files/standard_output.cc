// SPDX-License-Identifier: MIT
#include "files/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "io/npy.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

void write_all(const void* bytes, int64_t count) {
  const auto* at = static_cast<const char*>(bytes);
  for (int64_t done = 0; done < count;) {
    const ssize_t put = write(STDOUT_FILENO, at + done, static_cast<size_t>(count - done));
    if (put < 0 && errno != EINTR) {
      const int why = errno;
      throw FileError(
          Refusal{.code = ErrorCode::kFile,
                  .who = "file",
                  .what = "cannot write",
                  .detail = cat("standard output: ", std::strerror(why), " (errno ", why, ")"),
                  .next = "-o FILE"},
          "-", why);
    }
    done += put > 0 ? put : 0;
  }
}

}  // namespace

void refuse_terminal(std::string_view who, std::string_view output) {
  if (output == "-" && isatty(STDOUT_FILENO) != 0) {
    throw Error(Refusal{.who = std::string(who),
                        .what = "no bytes to a terminal",
                        .detail = "-o - writes .npy to standard output, which is a terminal",
                        .next = "-o FILE, or a program after |"});
  }
}

void write_npy(const ConstTensor& tensor) {
  const std::string header = io::npy_header(tensor.spec);
  write_all(header.data(), std::ssize(header));
  write_all(tensor.data, element_count(tensor.spec.sizes) * tensor.spec.dtype.bytes());
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
#include "io/replacing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "execution/cancel.h"
#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr auto kBetweenTries = std::chrono::milliseconds(2);

// Tries until it succeeds. Waiting inside the system could not be cancelled.
template <class Try>
void wait_for(const Request& request, Try attempt) {
  while (!attempt()) {
    ask_and_throw(current_cancel_scope(), request);
    std::this_thread::sleep_for(kBetweenTries);
  }
}

// A rename gives the name to the new file; other names of the old one keep the old content.
void refuse_other_names(const FileVersion& file) {
  struct stat status = {};
  if (fstat(file.descriptor(), &status) != 0) {
    fail_file(file.path(), "examine", errno);
  }
  if (status.st_nlink > 1) {
    refuse_file(file.path(), "has other names",
                cat("it has ", uint64_t{status.st_nlink},
                    " hard links; replacing it would leave the old content under the others"),
                "another output file, or a copy of this one");
  }
}

}  // namespace

Replacing::Replacing(OpenFile& file, const Request& request)
    : file_(file), threads_(file.replacing_, std::defer_lock) {
  wait_for(request, [&] { return threads_.try_lock(); });
  old_ = file.version();
  lock_processes(request);
  old_->check_current();
  refuse_other_names(*old_);
}

// The lock lies on the version that is to be replaced. Where the file system has no locks, the
// check before the rename is what is left.
void Replacing::lock_processes(const Request& request) {
  // Not the version's own descriptor: that one may be shared with a forked process.
  lock_ = Descriptor(open(old_->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (lock_.get() < 0) {
    return;  // check_current() finds out why
  }
  wait_for(request, [&] {
    return flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
  });
}

void Replacing::follow(VersionPointer next) noexcept {
  const std::lock_guard lock(file_.mutex_);
  file_.version_ = std::move(next);
}

}  // namespace sheaf::io

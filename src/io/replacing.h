// SPDX-License-Identifier: MIT
//
// The right to replace a file, held while its next version is made: meanwhile no other thread, and
// no other process that asks for the same right, writes one. Whoever waited for them and then finds
// that another file has the name is refused, so what others wrote is never lost.
#pragma once

#include "io/open_file.h"

namespace sheaf {
struct Request;
}

namespace sheaf::io {

class Replacing {
 public:
  // Waits for the others; cancelling the run ends the wait. Refuses (ESTALE) a file that was
  // changed or replaced since it was opened.
  Replacing(OpenFile& file, const Request& request);
  Replacing(const Replacing&) = delete;
  Replacing& operator=(const Replacing&) = delete;

  const FileVersion& old_version() const { return *old_; }

  // Tables of the file read this version from now on.
  void follow(VersionPointer next) noexcept;

 private:
  void lock_processes(const Request& request);

  OpenFile& file_;
  std::unique_lock<std::mutex> threads_;
  VersionPointer old_;
  Descriptor lock_;  // closing it gives the lock back
};

}  // namespace sheaf::io

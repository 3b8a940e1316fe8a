// SPDX-License-Identifier: MIT
#include "faults/system_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <iterator>

#ifdef SHEAF_URING
#include <liburing.h>
#endif
#ifdef SHEAF_ZLIB
#include <zlib.h>
#endif

#ifdef __has_feature
#define SHEAF_CLANG_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SHEAF_CLANG_SANITIZES 0
#endif

namespace faults {
namespace {

// Plain arrays and atomics: the calls come from any thread.
constexpr const char* kNames[] = {"open",
                                  "stat",
                                  "fstat",
                                  "pread",
                                  "pwrite",
                                  "ftruncate",
                                  "fallocate",
                                  "fsync",
                                  "rename",
                                  "linkat",
                                  "unlink",
                                  "fchmod",
                                  "fchown",
                                  "flistxattr",
                                  "fgetxattr",
                                  "fsetxattr",
                                  "flock",
                                  "lseek",
                                  "ioctl",
                                  "copy_file_range",
                                  "posix_fadvise",
                                  "io_uring_queue_init",
                                  "io_uring_submit_and_wait",
                                  "io_uring read",
                                  "pthread_create",
                                  "inflateInit2_",
                                  "inflate"};
enum Call {
  kOpen,
  kStat,
  kFstat,
  kPread,
  kPwrite,
  kFtruncate,
  kFallocate,
  kFsync,
  kRename,
  kLinkat,
  kUnlink,
  kFchmod,
  kFchown,
  kFlistxattr,
  kFgetxattr,
  kFsetxattr,
  kFlock,
  kLseek,
  kIoctl,
  kCopyFileRange,
  kFadvise,
  kRingInit,
  kRingWait,
  kRingRead,
  kPthreadCreate,
  kInflateInit,
  kInflate
};

std::atomic<bool> armed{false};
Fault current;
std::atomic<int64_t> count{0};
std::atomic<int> faulted{-1};
std::atomic<bool> had_effect{false};
std::atomic<int64_t> counts[std::size(kNames)];

// Counts a call; true if it is the one.
bool is_the_one(Call call) {
  if (!armed.load()) {
    return false;
  }
  ++counts[call];
  if (++count != current.at || current.kind == Kind::kNone) {
    return false;
  }
  faulted = call;
  if (current.kind == Kind::kKill) {
    kill(getpid(), SIGKILL);
  }
  return true;
}

bool fails(bool hit) {
  if (!hit || current.kind != Kind::kError) {
    return false;
  }
  had_effect = true;
  errno = current.error;
  return true;
}

// What is left of a request for `bytes`.
size_t shortened(bool hit, size_t bytes) {
  if (!hit || current.kind != Kind::kShort || bytes < 2) {
    return bytes;
  }
  had_effect = true;
  return bytes / 2;
}

template <class F>
F next_definition(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

std::string name_of(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kNone: return "none";
    case Kind::kError: return strerrorname_np(fault.error);
    case Kind::kShort: return "short";
    case Kind::kKill: return "kill";
  }
  return "";
}

Armed::Armed(const Fault& fault) {
  current = fault;
  count = 0;
  faulted = -1;
  had_effect = false;
  for (auto& number : counts) {
    number = 0;
  }
  armed = true;
}
Armed::~Armed() { armed = false; }

int64_t calls() { return count; }
bool happened() { return had_effect; }
std::string faulted_call() { return faulted < 0 ? "" : kNames[faulted]; }
std::map<std::string, int64_t> calls_by_name() {
  std::map<std::string, int64_t> names;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (counts[i] > 0) {
      names[kNames[i]] = counts[i];
    }
  }
  return names;
}

}  // namespace faults

using namespace faults;

// The C library declares some of these with attributes that a second definition need not repeat.
extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return fails(is_the_one(kOpen))
             ? -1
             : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int stat(const char* path, struct stat* status) {
  return fails(is_the_one(kStat)) ? -1 : fstatat(AT_FDCWD, path, status, 0);
}

int fstat(int file, struct stat* status) {
  return fails(is_the_one(kFstat)) ? -1 : fstatat(file, "", status, AT_EMPTY_PATH);
}

ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  const bool hit = is_the_one(kPread);
  return fails(hit) ? -1 : syscall(SYS_pread64, file, to, shortened(hit, bytes), offset);
}

ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
  const bool hit = is_the_one(kPwrite);
  return fails(hit) ? -1 : syscall(SYS_pwrite64, file, from, shortened(hit, bytes), offset);
}

int ftruncate(int file, off_t bytes) noexcept {
  return fails(is_the_one(kFtruncate)) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, bytes));
}

int fallocate(int file, int mode, off_t offset, off_t bytes) {
  return fails(is_the_one(kFallocate))
             ? -1
             : static_cast<int>(syscall(SYS_fallocate, file, mode, offset, bytes));
}

// Nothing is written to the disk: the tests never cut the power.
int fsync(int) { return fails(is_the_one(kFsync)) ? -1 : 0; }

int rename(const char* from, const char* to) noexcept {
  return fails(is_the_one(kRename))
             ? -1
             : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return fails(is_the_one(kLinkat))
             ? -1
             : static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int unlink(const char* path) noexcept {
  return fails(is_the_one(kUnlink)) ? -1
                                    : static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int fchmod(int file, mode_t mode) noexcept {
  return fails(is_the_one(kFchmod)) ? -1 : static_cast<int>(syscall(SYS_fchmod, file, mode));
}

int fchown(int file, uid_t user, gid_t group) noexcept {
  return fails(is_the_one(kFchown)) ? -1 : static_cast<int>(syscall(SYS_fchown, file, user, group));
}

ssize_t flistxattr(int file, char* list, size_t bytes) noexcept {
  return fails(is_the_one(kFlistxattr)) ? -1 : syscall(SYS_flistxattr, file, list, bytes);
}

ssize_t fgetxattr(int file, const char* name, void* value, size_t bytes) noexcept {
  return fails(is_the_one(kFgetxattr)) ? -1 : syscall(SYS_fgetxattr, file, name, value, bytes);
}

int fsetxattr(int file, const char* name, const void* value, size_t bytes, int flags) noexcept {
  return fails(is_the_one(kFsetxattr))
             ? -1
             : static_cast<int>(syscall(SYS_fsetxattr, file, name, value, bytes, flags));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // fcntl.h has a struct of this name
int flock(int file, int operation) noexcept {
  return fails(is_the_one(kFlock)) ? -1 : static_cast<int>(syscall(SYS_flock, file, operation));
}
#pragma GCC diagnostic pop

off_t lseek(int file, off_t offset, int whence) noexcept {
  return fails(is_the_one(kLseek)) ? -1 : syscall(SYS_lseek, file, offset, whence);
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  const auto argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  return fails(is_the_one(kIoctl)) ? -1
                                   : static_cast<int>(syscall(SYS_ioctl, file, request, argument));
}

ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t bytes,
                        unsigned flags) {
  const bool hit = is_the_one(kCopyFileRange);
  return fails(hit)
             ? -1
             : syscall(SYS_copy_file_range, in, in_at, out, out_at, shortened(hit, bytes), flags);
}

int posix_fadvise(int file, off_t offset, off_t bytes, int advice) noexcept {
  return fails(is_the_one(kFadvise))
             ? current.error
             : static_cast<int>(syscall(SYS_fadvise64, file, offset, bytes, advice));
}

// The sanitizers have to see every thread: there this one call is left to them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !SHEAF_CLANG_SANITIZES
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static const auto original = next_definition<decltype(&pthread_create)>("pthread_create");
  return fails(is_the_one(kPthreadCreate)) ? EAGAIN : original(thread, attributes, start, argument);
}
#endif

#ifdef SHEAF_URING
int io_uring_queue_init(unsigned entries, io_uring* ring, unsigned flags) {
  static const auto original =
      next_definition<decltype(&io_uring_queue_init)>("io_uring_queue_init");
  return fails(is_the_one(kRingInit)) ? -current.error : original(entries, ring, flags);
}

// Besides the call itself, one answer that it brings can be a failed or a short read.
int io_uring_submit_and_wait(io_uring* ring, unsigned wait_for) {
  static const auto original =
      next_definition<decltype(&io_uring_submit_and_wait)>("io_uring_submit_and_wait");
  if (fails(is_the_one(kRingWait))) {
    return -current.error;
  }
  const int status = original(ring, wait_for);
  unsigned head = 0;
  io_uring_cqe* answer = nullptr;
  io_uring_for_each_cqe(ring, head, answer) {
    const bool hit = answer->res > 0 && is_the_one(kRingRead);
    if (fails(hit)) {
      answer->res = -current.error;
    } else if (answer->res > 0) {
      answer->res = static_cast<int>(shortened(hit, static_cast<size_t>(answer->res)));
    }
  }
  return status;
}
#endif

#ifdef SHEAF_ZLIB
// No system calls, but they fail like one: for lack of memory.
int inflateInit2_(z_streamp stream, int bits, const char* version, int bytes) {
  static const auto original = next_definition<decltype(&inflateInit2_)>("inflateInit2_");
  return fails(is_the_one(kInflateInit)) ? Z_MEM_ERROR : original(stream, bits, version, bytes);
}

int inflate(z_streamp stream, int flush) {
  static const auto original = next_definition<decltype(&inflate)>("inflate");
  return fails(is_the_one(kInflate)) ? Z_MEM_ERROR : original(stream, flush);
}
#endif

}  // extern "C"

// SPDX-License-Identifier: MIT
//
// Threads that call pread. What they wait for is the disk, so there are more of them than cores.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "io/file_error.h"
#include "io/reader.h"
#include "support/text.h"

#include <unistd.h>

#include <cerrno>

namespace sheaf::io {
namespace {

// Below this, starting threads takes longer than reading.
constexpr size_t kRequestsPerThread = 8;

void read_one(const ReadTarget& target, const ReadRequest& request) {
  for (ReadRequest rest = request; rest.bytes > 0;) {
    const ssize_t got =
        pread(target.descriptor_for(rest), rest.to, static_cast<size_t>(rest.bytes), rest.offset);
    if (got < 0 && errno != EINTR) {
      fail_file(target.file.path(), cat("read ", request.bytes, " bytes at ", request.offset),
                errno);
    }
    if (got == 0) {
      fail_short(target.file.path(), request.offset, request.bytes, rest.offset);
    }
    const int64_t read = std::max<int64_t>(got, 0);
    rest = {rest.offset + read, rest.bytes - read, rest.to + read};
  }
}

class PreadReader final : public Reader {
 public:
  explicit PreadReader(const ReadTarget& target) : target_(target) {}
  std::string_view name() const override { return "pread"; }

  void read(std::span<const ReadRequest> requests) override {
    const size_t threads =
        std::min(static_cast<size_t>(target_.depth), requests.size() / kRequestsPerThread);
    std::atomic<size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto work = [&] {
      try {
        for (size_t i = next++; i < requests.size(); i = next++) {
          read_one(target_, requests[i]);
        }
      } catch (...) {
        next = requests.size();  // the others stop too
        const std::lock_guard lock(error_mutex);
        error = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> pool;
      try {
        for (size_t i = 1; i < threads; ++i) {
          pool.emplace_back(work);
        }
      } catch (const std::system_error&) {
        // No more threads to be had: those that there are do the work.
      }
      work();
    }
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  ReadTarget target_;
};

}  // namespace

std::unique_ptr<Reader> make_pread_reader(const ReadTarget& target) {
  return std::make_unique<PreadReader>(target);
}

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
//
// io_uring: one thread keeps `depth` reads in flight.
#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "io/file_error.h"
#include "io/reader.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

class UringReader final : public Reader {
 public:
  explicit UringReader(const ReadTarget& target) : target_(target) {}
  ~UringReader() override {
    if (open_) {
      close_ring();
    }
  }
  bool open() {
    open_ = io_uring_queue_init(static_cast<unsigned>(target_.depth), &ring_, 0) == 0;
    return open_;
  }
  std::string_view name() const override { return "io_uring"; }

  void read(std::span<const ReadRequest> requests) override {
    slots_.assign(static_cast<size_t>(target_.depth), {});
    free_.clear();
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      free_.push_back(slot);
    }
    error_ = 0;
    short_ = false;
    size_t next = 0;
    int in_flight = 0;
    while (in_flight > 0 || (next < requests.size() && !failed())) {
      while (!failed() && !free_.empty() && next < requests.size()) {
        const size_t slot = free_.back();
        free_.pop_back();
        slots_[slot] = requests[next++];
        submit(slot);
        ++in_flight;
      }
      in_flight -= collect();
    }
    report();
  }

 private:
  bool failed() const { return error_ != 0 || short_; }

  void submit(size_t slot) {
    const ReadRequest& r = slots_[slot];
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);  // never null: at most `depth` in flight
    io_uring_prep_read(entry, target_.descriptor_for(r), r.to, static_cast<unsigned>(r.bytes),
                       static_cast<uint64_t>(r.offset));
    entry->user_data = slot;
  }

  // Submits what is prepared, waits for at least one answer, and returns how many requests ended.
  int collect() {
    const int status = io_uring_submit_and_wait(&ring_, 1);
    in_kernel_ += std::max(status, 0);
    if (status < 0 && status != -EINTR && status != -EAGAIN && status != -EBUSY) {
      close_ring();
      fail_file(target_.file.path(), "read by io_uring", -status);
    }
    int ended = 0;
    for (io_uring_cqe* answer = nullptr; io_uring_peek_cqe(&ring_, &answer) == 0;) {
      const auto slot = static_cast<size_t>(answer->user_data);
      const int result = answer->res;
      io_uring_cqe_seen(&ring_, answer);
      --in_kernel_;
      if (again(slot, result)) {
        submit(slot);
      } else {
        free_.push_back(slot);
        ++ended;
      }
    }
    return ended;
  }

  // The kernel writes to the caller's memory until the last answer is here.
  void close_ring() {
    for (io_uring_cqe* answer = nullptr; in_kernel_ > 0;) {
      const int status = io_uring_wait_cqe(&ring_, &answer);
      if (status == 0) {
        io_uring_cqe_seen(&ring_, answer);
        --in_kernel_;
      } else if (status != -EINTR && status != -EAGAIN) {
        break;
      }
    }
    io_uring_queue_exit(&ring_);
    open_ = false;
  }

  // Notes what a read brought; true if the rest of it has to be asked for.
  bool again(size_t slot, int result) {
    ReadRequest& r = slots_[slot];
    if (result == -EINTR || result == -EAGAIN) {
      return true;
    }
    if (result <= 0) {
      if (!failed()) {
        error_ = -result;
        short_ = result == 0;
        failed_request_ = r;
      }
      return false;
    }
    r.offset += result;
    r.bytes -= result;
    r.to += result;
    return r.bytes > 0 && !failed();
  }

  void report() const {
    const ReadRequest& r = failed_request_;
    if (short_) {
      fail_short(target_.file.path(), r.offset, r.bytes, r.offset);
    }
    if (error_ != 0) {
      fail_file(target_.file.path(), cat("read ", r.bytes, " bytes at ", r.offset), error_);
    }
  }

  ReadTarget target_;
  io_uring ring_ = {};
  bool open_ = false;
  int in_kernel_ = 0;               // requests that it has taken and not answered
  std::vector<ReadRequest> slots_;  // what is in flight, by number
  std::vector<size_t> free_;
  int error_ = 0;
  bool short_ = false;
  ReadRequest failed_request_ = {};
};

}  // namespace

std::unique_ptr<Reader> make_uring_reader(const ReadTarget& target) {
  auto reader = std::make_unique<UringReader>(target);
  return reader->open() ? std::move(reader) : nullptr;
}

}  // namespace sheaf::io

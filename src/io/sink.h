// SPDX-License-Identifier: MIT
//
// Where rows go: memory, or a file that is being written.
#pragma once

#include <cstring>
#include <vector>

#include "io/new_file.h"

namespace sheaf::io {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(int64_t offset, const std::byte* from, int64_t bytes) = 0;
  virtual void flush() {}
};

class MemorySink final : public Sink {
 public:
  explicit MemorySink(void* output) : output_(static_cast<std::byte*>(output)) {}
  void write(int64_t offset, const std::byte* from, int64_t bytes) override {
    std::memcpy(output_ + offset, from, static_cast<size_t>(bytes));
  }

 private:
  std::byte* output_;
};

// Rows that follow each other in the output become one write.
class FileSink final : public Sink {
 public:
  FileSink(NewFile& file, int64_t start) : file_(file), start_(start) {}
  void write(int64_t offset, const std::byte* from, int64_t bytes) override {
    if (offset != end_ || std::ssize(pending_) + bytes > kMaxPending) {
      flush();
      if (bytes >= kMaxPending) {
        file_.write(start_ + offset, from, bytes);
        end_ = -1;
        return;
      }
    }
    pending_.insert(pending_.end(), from, from + bytes);
    end_ = offset + bytes;
  }
  void flush() override {
    if (!pending_.empty()) {
      file_.write(start_ + end_ - std::ssize(pending_), pending_.data(), std::ssize(pending_));
      pending_.clear();
    }
    end_ = -1;
  }

 private:
  static constexpr int64_t kMaxPending = 1 << 18;
  NewFile& file_;
  int64_t start_;
  int64_t end_ = -1;  // where the pending bytes end; -1: none are pending
  std::vector<std::byte> pending_;
};

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
//
// How host steps are cancelled: they count their work and poll the caller's scope now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sheaf/cancel.h"

namespace sheaf {

struct Request;

// The calling thread's scope; null: nothing is ever cancelled.
const CancelScope* current_cancel_scope();

// Throws kCancelled if the scope was cancelled. Null: does nothing.
void throw_if_cancelled(const CancelScope* scope, const Request& request);
void throw_if_cancelled(const CancelScope* scope, std::string_view who);

// Polls the scope, and throws kCancelled if it was cancelled. For work that takes milliseconds.
void ask_and_throw(const CancelScope* scope, const Request& request);

// Polls from one thread, cheaply enough for every block of a few hundred bytes.
class CancelPoint {
 public:
  // The work between two polls; a core moves it in less than a millisecond.
  static constexpr int64_t kPieceBytes = int64_t{1} << 20;
  // A row that is not in cache costs about as much as moving this many bytes.
  static constexpr int64_t kRowCost = 64;

  explicit CancelPoint(const CancelScope* scope) : scope_(scope) {}

  // True if the work should end. Otherwise `bytes` more of it are about to be done.
  bool before(int64_t bytes) {
    if (scope_ == nullptr) {
      return false;
    }
    left_ -= bytes;
    return left_ <= 0 && ask();
  }
  bool before_rows(int64_t rows, int64_t row_bytes) {
    return scope_ != nullptr && before(rows * std::max(row_bytes, kRowCost));
  }
  // Has the work ended early?
  bool stopped() const { return scope_ != nullptr && scope_->was_cancelled(); }

 private:
  // Once cancelled, every call polls, so that the enclosing loops end as well.
  bool ask() {
    const bool yes = scope_->cancelled();
    left_ = yes ? 0 : kPieceBytes;
    return yes;
  }

  const CancelScope* scope_;
  int64_t left_ = kPieceBytes;
};

}  // namespace sheaf

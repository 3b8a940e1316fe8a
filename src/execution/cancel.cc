// SPDX-License-Identifier: MIT
#include "execution/cancel.h"

#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

thread_local const CancelScope* current = nullptr;

constexpr const char* kWhat = "cancelled";
constexpr const char* kDetail = "the caller ended the work; the output may hold a part of it";
constexpr const char* kNext = "the same call again";

bool flag_is_set(void* flag) {
  return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
}

}  // namespace

CancelScope::CancelScope(Cancel cancel) : cancel_(cancel), outer_(current) { current = this; }

CancelScope::CancelScope(const std::atomic<bool>& flag)
    : CancelScope(Cancel{flag_is_set, const_cast<std::atomic<bool>*>(&flag)}) {}

CancelScope::~CancelScope() { current = outer_; }

bool CancelScope::cancelled() const {
  if (!was_cancelled() && cancel_.asked != nullptr && cancel_.asked(cancel_.context)) {
    cancelled_.store(true, std::memory_order_relaxed);
  }
  return was_cancelled();
}

const CancelScope* current_cancel_scope() { return current; }

void throw_if_cancelled(const CancelScope* scope, const Request& request) {
  if (scope != nullptr && scope->was_cancelled()) {
    refuse_as(ErrorCode::kCancelled, request, {}, kWhat, kDetail, kNext);
  }
}

void ask_and_throw(const CancelScope* scope, const Request& request) {
  if (scope != nullptr && scope->cancelled()) {
    throw_if_cancelled(scope, request);
  }
}

void throw_if_cancelled(const CancelScope* scope, std::string_view who) {
  if (scope != nullptr && scope->was_cancelled()) {
    throw Error(ErrorCode::kCancelled, refusal_text(cat(who, ": ", kWhat), kDetail, "", kNext));
  }
}

}  // namespace sheaf

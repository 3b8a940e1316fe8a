// SPDX-License-Identifier: MIT
#include "execution/workers.h"

namespace sheaf {
namespace {

thread_local const WorkersScope* current_scope = nullptr;

}  // namespace

WorkersScope::WorkersScope(Workers workers) : workers_(workers), outer_(current_scope) {
  current_scope = this;
}

WorkersScope::~WorkersScope() { current_scope = outer_; }

const Workers* current_workers() {
  return current_scope == nullptr || current_scope->workers().run == nullptr
             ? nullptr
             : &current_scope->workers();
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// Every refusal is an Error whose text has four lines: operator and what is wrong; the value, where
// it stands and the limit; all shapes and types; a next step.
#pragma once

#include <stdexcept>
#include <string>

#include "sheaf/fixed.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class ErrorCode : int {
  kInvalidArgument = 1,  // shapes, types, strides, pointers, options
  kIndexOutOfRange = 2,  // an index value, under the rule `fail`
  kUnsupported = 3,      // no kernel or backend for a valid plan
  kOutOfMemory = 4,
  kDevice = 5,  // the device reported an error
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The first bad index in row-major order of the indices tensor. The output is untouched.
class IndexError : public Error {
 public:
  IndexError(const std::string& text, const Dims& position, int64_t bad_count)
      : Error(ErrorCode::kIndexOutOfRange, text), position_(position), bad_count_(bad_count) {}
  const Dims& position() const { return position_; }
  int64_t bad_count() const { return bad_count_; }

 private:
  Dims position_;
  int64_t bad_count_;
};

}  // namespace sheaf

#pragma GCC visibility pop

// SPDX-License-Identifier: MIT
//
// Every refusal is an Error whose text has four lines: the operator and what is wrong; the value,
// its place and the limit; all shapes and types; a next step.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sheaf/fixed.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class ErrorCode : int {
  kInvalidArgument = 1,  // shapes, types, strides, pointers, options
  kIndexOutOfRange = 2,  // an index value, under the rule `fail`
  kUnsupported = 3,      // no kernel or backend for a valid plan
  kOutOfMemory = 4,
  kDevice = 5,     // the device reported an error
  kFile = 6,       // a file is malformed, or reading or writing it failed
  kCancelled = 7,  // the caller ended the run: sheaf/cancel.h
};

// What is wrong, for programs: finer than ErrorCode, coarser than the text.
enum class Reason : uint8_t {
  kOther,       // only the text says
  kNull,        // a null pointer or descriptor
  kOption,      // an option, flag or name without a meaning
  kType,        // an element type that is unknown or does not fit
  kRank,        // too few or too many dimensions
  kShape,       // sizes that do not fit each other
  kStrides,     // strides that are missing, or place elements on top of each other
  kTooLarge,    // sizes or strides beyond 2^63 - 1
  kAxis,        // axis out of range
  kBatchDims,   // batch_dims out of range
  kDimensions,  // dimension numbers of the XLA forms
  kIndexRule,   // a rule that the operator does not have
  kReduction,   // a reduction that the type does not have
  kFillValue,   // a value that the type does not hold
  kIndex,       // an index out of range
  kMemory,      // buffers that overlap, are misaligned or too small; no memory left
  kPlan,        // tensors or calls that the plan was not made for
  kGradient,    // no gradient as one plan
  kKernel,      // no kernel of that name takes the plan
};

// The data of a refusal.
struct Cause {
  Reason reason = Reason::kOther;
  std::string_view tensor = {};  // a string literal: "data", "indices", …; empty: no single one
  int axis = -1;                 // of that tensor; -1: no single one
  Dims got = {}, wanted = {};    // sizes or values, where the reason has them
};

// A refusal as a value. A front end that has other names for things catches the Error and writes
// the words again, from the cause.
struct Refusal {
  ErrorCode code = ErrorCode::kInvalidArgument;
  Cause cause = {};
  // The words of the four lines.
  std::string who = {}, what = {};  // "gather: index out of range"
  std::string detail = {};
  std::string given = {};    // all shapes and types
  std::string next = {};     // "try: …"
  std::string picture = {};  // the command that draws the call, where that helps
};

class Error : public std::runtime_error {
 public:
  explicit Error(Refusal refusal);
  Error(ErrorCode code, const std::string& text)
      : std::runtime_error(text),
        refusal_(std::make_shared<const Refusal>(Refusal{code, {}, {}, text, {}, {}, {}, {}})) {}
  ErrorCode code() const { return refusal_->code; }
  const Refusal& refusal() const { return *refusal_; }

 private:
  std::shared_ptr<const Refusal> refusal_;  // shared: copying an exception must not throw
};

// The first bad index in row-major order of the indices tensor. The output is untouched.
class IndexError : public Error {
 public:
  IndexError(Refusal refusal, const Dims& position, int64_t bad_count)
      : Error(std::move(refusal)), position_(position), bad_count_(bad_count) {}
  IndexError(const std::string& text, const Dims& position, int64_t bad_count)
      : Error(ErrorCode::kIndexOutOfRange, text), position_(position), bad_count_(bad_count) {}
  const Dims& position() const { return position_; }
  int64_t bad_count() const { return bad_count_; }

 private:
  Dims position_;
  int64_t bad_count_;
};

// A file that cannot be opened, read, understood or written.
class FileError : public Error {
 public:
  FileError(Refusal refusal, std::string path, int system_error)
      : Error(std::move(refusal)), path_(std::move(path)), system_error_(system_error) {}
  FileError(const std::string& text, std::string path, int system_error)
      : Error(ErrorCode::kFile, text), path_(std::move(path)), system_error_(system_error) {}
  const std::string& path() const { return path_; }
  int system_error() const { return system_error_; }  // errno, or 0: the content is at fault

 private:
  std::string path_;
  int system_error_;
};

}  // namespace sheaf

#pragma GCC visibility pop

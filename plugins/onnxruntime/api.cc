// SPDX-License-Identifier: MIT
#include "api.h"

#include <charconv>
#include <new>
#include <string_view>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::ort {
namespace {

// The first number of "1.31.1".
int major_version(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

const void* main_table(const ApiBase& base) {
  const char* const text = base.version_string();
  const std::string version = text == nullptr ? "unknown" : text;
  const void* const table = base.get_api(kApiVersion);
  // Tables keep their order within a major version: a later 1.x has all that 1.24 had.
  if (major_version(version) != 1 || table == nullptr) {
    throw Failure(
        kNotImplemented,
        cat("Sheaf's execution provider needs ONNX Runtime 1.24 or a later 1.x\n",
            "  this is ONNX Runtime ", version, "\n", "  try: pip install 'onnxruntime>=1.24,<2'"));
  }
  return table;
}

ErrorNumber number_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kIndexOutOfRange: return kInvalidArgumentError;
    case ErrorCode::kUnsupported: return kNotImplemented;
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDevice:
    case ErrorCode::kFile:
    case ErrorCode::kCancelled: break;
  }
  return kRuntimeException;
}

}  // namespace

Api::Api(const ApiBase& base) : main_(main_table(base)), provider_(nullptr) {
  provider_ = (*this)(kGetEpApi);
  if (provider_ == nullptr) {
    throw Failure(kNotImplemented,
                  "Sheaf's execution provider needs an ONNX Runtime that takes provider libraries\n"
                  "  this build was made without them\n"
                  "  try: pip install 'onnxruntime>=1.24,<2'");
  }
}

void Api::throw_and_release(Status* status) const {
  Failure failure((*this)(kGetErrorCode, status), (*this)(kGetErrorMessage, status));
  (*this)(kReleaseStatus, status);
  throw failure;
}

Status* status_of_exception(const Api& api) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return api(kCreateStatus, failure.number(), failure.what());
  } catch (const Error& error) {
    return api(kCreateStatus, number_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return api(kCreateStatus, kRuntimeException, "Sheaf: out of memory");
  } catch (const std::exception& error) {
    return api(kCreateStatus, kRuntimeException, error.what());
  } catch (...) {
    return api(kCreateStatus, kRuntimeException, "Sheaf: an unknown error");
  }
}

Status* refusal_status(const ApiBase& base, const char* text) noexcept {
  const void* const oldest = base.get_api(1);
  if (oldest == nullptr) {
    return nullptr;  // no table at all: nothing can be said, and no factory is made
  }
  using Create = Status* (*)(ErrorNumber, const char*);
  return static_cast<const Create*>(oldest)[kCreateStatus.position](kNotImplemented, text);
}

}  // namespace sheaf::ort

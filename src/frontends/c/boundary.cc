// SPDX-License-Identifier: MIT
#include "frontends/c/boundary.h"

#include <exception>
#include <new>

#include "plan/refuse.h"
#include "sheaf/error.h"
#include "support/error_text.h"

namespace sheaf {
namespace {

thread_local ErrorText last_error;

sheaf_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return SHEAF_INVALID_ARGUMENT;
    case ErrorCode::kIndexOutOfRange: return SHEAF_INDEX_OUT_OF_RANGE;
    case ErrorCode::kUnsupported: return SHEAF_UNSUPPORTED;
    case ErrorCode::kOutOfMemory: return SHEAF_OUT_OF_MEMORY;
    case ErrorCode::kDevice: return SHEAF_DEVICE_ERROR;
    case ErrorCode::kFile: return SHEAF_FILE_ERROR;
    case ErrorCode::kCancelled: return SHEAF_CANCELLED;
  }
  return SHEAF_INTERNAL_ERROR;
}

}  // namespace

sheaf_status report_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    last_error.keep(error.what());
    return status_of(error.code());
  } catch (const std::bad_alloc&) {
    last_error.keep(kNoMemoryText);
    return SHEAF_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error.keep(error.what());
  } catch (...) {
    last_error.keep("sheaf: an exception of unknown type");
  }
  return SHEAF_INTERNAL_ERROR;
}

}  // namespace sheaf

const char* sheaf_last_error(void) { return sheaf::last_error.text; }

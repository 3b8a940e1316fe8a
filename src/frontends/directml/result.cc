// SPDX-License-Identifier: MIT
#include "frontends/directml/result.h"

#include <exception>
#include <new>

#include "support/text.h"

namespace sheaf::dml {
namespace {

// One text a thread, so that threads which share a device do not read each other's.
thread_local std::string last_error;
thread_local bool no_memory_for_text = false;

HRESULT result_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kIndexOutOfRange: return E_INVALIDARG;
    case ErrorCode::kUnsupported: return DXGI_ERROR_UNSUPPORTED;
    case ErrorCode::kOutOfMemory: return E_OUTOFMEMORY;
    case ErrorCode::kDevice:
    case ErrorCode::kFile: break;  // no device and no file is ever asked
  }
  return E_FAIL;
}

HRESULT keep(const char* text, HRESULT result) noexcept {
  try {
    last_error = text;
  } catch (const std::exception&) {
    no_memory_for_text = true;
  }
  return result;
}

}  // namespace

const char* LastErrorText() noexcept {
  return no_memory_for_text ? "out of memory" : last_error.c_str();
}

namespace detail {

void refuse(const Refusal& r) {
  throw Error(r.code,
              cat(r.who, ": ", r.what, "\n  ", r.detail, "\n  ", r.given, "\n  try: ", r.next));
}

void forget_last_error() noexcept {
  last_error.clear();
  no_memory_for_text = false;
}

HRESULT result_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(error.what(), result_of(error.code()));
  } catch (const std::bad_alloc&) {
    return keep("out of memory", E_OUTOFMEMORY);
  } catch (const std::exception& error) {
    return keep(error.what(), E_FAIL);
  } catch (...) {
    return keep("unknown failure", E_FAIL);
  }
}

}  // namespace detail
}  // namespace sheaf::dml

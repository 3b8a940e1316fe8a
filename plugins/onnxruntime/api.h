// SPDX-License-Identifier: MIT
//
// Calls into the runtime, and what comes back from them: a status becomes an exception here, and an
// exception a status at the border.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include "interface.h"

namespace sheaf::ort {

// A status of the runtime, or of ours on the way to it.
class Failure : public std::runtime_error {
 public:
  Failure(ErrorNumber number, const std::string& text)
      : std::runtime_error(text), number_(number) {}
  ErrorNumber number() const { return number_; }

 private:
  ErrorNumber number_;
};

class Api {
 public:
  // Throws Failure unless the runtime has the tables that the provider was written for.
  explicit Api(const ApiBase& base);

  template <class Result, class... Args>
  Result operator()(Slot<MainTable, Result(Args...)> slot,
                    std::type_identity_t<Args>... args) const {
    return function<Result, Args...>(main_, slot.position)(args...);
  }
  template <class Result, class... Args>
  Result operator()(Slot<ProviderTable, Result(Args...)> slot,
                    std::type_identity_t<Args>... args) const {
    return function<Result, Args...>(provider_, slot.position)(args...);
  }

  // Calls a function that returns a status, and throws what that says.
  template <class Table, class... Args>
  void check(Slot<Table, Status*(Args...)> slot, std::type_identity_t<Args>... args) const {
    if (Status* const status = (*this)(slot, args...); status != nullptr) {
      throw_and_release(status);
    }
  }
  // The same, and says whether it went well: for what may be missing.
  template <class Table, class... Args>
  bool try_call(Slot<Table, Status*(Args...)> slot, std::type_identity_t<Args>... args) const {
    Status* const status = (*this)(slot, args...);
    if (status != nullptr) {
      (*this)(kReleaseStatus, status);
    }
    return status == nullptr;
  }

 private:
  template <class Result, class... Args>
  static auto function(const void* table, size_t position) {
    using Function = Result (*)(Args...);
    return static_cast<const Function*>(table)[position];
  }
  [[noreturn]] void throw_and_release(Status* status) const;

  const void* main_;
  const void* provider_;
};

// A status that says what the exception being handled says.
Status* status_of_exception(const Api& api) noexcept;

// Runs `work`; null if it went well.
template <class Work>
Status* guarded(const Api& api, const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    return status_of_exception(api);
  }
}

// A status for a runtime that Api refuses: all versions have the function for it.
Status* refusal_status(const ApiBase& base, const char* text) noexcept;

}  // namespace sheaf::ort

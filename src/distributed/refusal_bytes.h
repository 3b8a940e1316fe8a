// SPDX-License-Identifier: MIT
//
// An error as bytes, so that one rank's can be thrown on all of them.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace sheaf::distributed {

// What `error` says, with the rank added. `who` is the call, for errors that do not name one.
std::string bytes_of(const std::exception_ptr& error, std::string_view who, int rank);

// Throws it: an IndexError with position and count if it was one, else an Error.
[[noreturn]] void throw_bytes(const std::string& bytes);

}  // namespace sheaf::distributed

// SPDX-License-Identifier: MIT
//
// Refusals as values, so that a test can compare their whole text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sheaf/error.h"

// The text with which `call` is refused. Fails the test if it is not, or with another code.
template <class Call>
std::string refusal(Call&& call, sheaf::ErrorCode code = sheaf::ErrorCode::kInvalidArgument) {
  try {
    call();
  } catch (const sheaf::Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

// The IndexError that `call` throws.
template <class Call>
sheaf::IndexError index_error(Call&& call) {
  try {
    call();
  } catch (const sheaf::IndexError& error) {
    return error;
  }
  ADD_FAILURE() << "no index is refused";
  return {"", {}, 0};
}

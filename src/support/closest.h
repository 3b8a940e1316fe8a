// SPDX-License-Identifier: MIT
//
// Which word a mistyped one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sheaf {

// The candidate that takes the fewest keystrokes to reach: letters put in, left out, replaced, or
// swapped with their neighbour. Empty where none is near.
std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates);

// "did you mean doctor?"; empty where no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace sheaf

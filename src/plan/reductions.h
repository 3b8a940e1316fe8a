// SPDX-License-Identifier: MIT
//
// The list of reductions: their table, and those that combine two elements. Whatever needs one
// instance per reduction (the kernels of a backend, their declarations, the switch that picks one)
// is written from this list.
#pragma once

#include <array>
#include <string_view>

#include "sheaf/reduction.h"

namespace sheaf {

struct ReductionRow {
  Reduction value;
  std::string_view name;
  std::string_view sign;  // between two terms of a formula; empty: it is written as a function
  bool compares;          // needs an order: complex numbers have none
  bool divides;           // the result need not be a value of an integer type that the sum is
};
inline constexpr std::array<ReductionRow, 7> kReductions = {{
    {Reduction::kNone, "none", "", false, false},
    {Reduction::kAdd, "add", "+", false, false},
    {Reduction::kSub, "sub", "-", false, false},
    {Reduction::kMul, "mul", "*", false, false},
    {Reduction::kMin, "min", "", true, false},
    {Reduction::kMax, "max", "", true, false},
    {Reduction::kMean, "mean", "", false, true},
}};

}  // namespace sheaf

// X(Name): Reduction::kName. `none` replaces an element, and `mean` is `add` followed by a
// division: neither combines two.
#define SHEAF_COMBINING_REDUCTIONS(X) X(Add) X(Sub) X(Mul) X(Min) X(Max)

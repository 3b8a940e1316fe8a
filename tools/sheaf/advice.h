// SPDX-License-Identifier: MIT
//
// The library's advice in the words of whoever asked: options of a subcommand, or attributes of a
// problem string.
#pragma once

#include "sheaf/error.h"

namespace sheaf::cli {

// The same error, which says "--out-of-range clamp".
IndexError with_options(const IndexError& error);
// The same of a bag, which can skip.
IndexError with_bag_options(const IndexError& error);
// The same error, which says "out_of_range=clamp", and no picture: sheaf explain has drawn one.
IndexError with_attributes(const IndexError& error);

}  // namespace sheaf::cli

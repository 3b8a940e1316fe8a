// SPDX-License-Identifier: MIT
#include <string>

#include "sheaf/dtype.h"

constexpr sheaf::DType kText = sheaf::dtype_of<std::string>();

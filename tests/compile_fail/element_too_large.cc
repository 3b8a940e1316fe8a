// SPDX-License-Identifier: MIT
#include "sheaf/dtype.h"

struct Page {
  char bytes[65];
};

constexpr sheaf::DType kPage = sheaf::dtype_of<Page>();

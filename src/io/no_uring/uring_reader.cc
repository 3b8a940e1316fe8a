// SPDX-License-Identifier: MIT
#include "io/reader.h"

namespace sheaf::io {

std::unique_ptr<Reader> make_uring_reader(const ReadTarget&) { return nullptr; }

}  // namespace sheaf::io

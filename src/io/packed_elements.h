// SPDX-License-Identifier: MIT
//
// Elements of 4 and 2 bits as ONNX stores them: packed without regard to rows, the first in the
// lowest bits. In memory each has a byte, in whose lowest bits it is, as ml_dtypes has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sheaf/dtype.h"

namespace sheaf::io {

struct PackedElements {
  int bits = 4;

  int64_t per_byte() const { return 8 / bits; }
  int64_t bytes(int64_t elements) const {  // never beyond int64
    return elements / per_byte() + (elements % per_byte() != 0 ? 1 : 0);
  }
  // Elements [first, first + count) of the packed bytes at `from`.
  void unpack(const std::byte* from, int64_t first, std::byte* to, int64_t count) const;
};

// How elements of this type are packed; nothing if they have whole bytes.
std::optional<PackedElements> packed_elements(DType type);

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
#include "io/packed_elements.h"

#include "plan/decode.h"

namespace sheaf::io {
namespace {

template <int kBits>
void unpack_codes(const std::byte* from, int64_t first, std::byte* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<std::byte>(packed_code<kBits>(from, first + i));
  }
}

}  // namespace

void PackedElements::unpack(const std::byte* from, int64_t first, std::byte* to,
                            int64_t count) const {
  bits == 4 ? unpack_codes<4>(from, first, to, count) : unpack_codes<2>(from, first, to, count);
}

std::optional<PackedElements> packed_elements(DType type) {
  return type.is_sub_byte() ? std::optional(PackedElements{type == i4 || type == u4 ? 4 : 2})
                            : std::nullopt;
}

}  // namespace sheaf::io

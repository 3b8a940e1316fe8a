// SPDX-License-Identifier: MIT
#include <optional>

#include "frontends/directml/feature_levels.h"
#include "sheaf/directml.h"
#include "support/checked.h"

namespace sheaf::dml {
namespace {

struct Layout {
  UINT dimension_count;
  const UINT* sizes;
  const UINT* strides;
};

// One more than the position of the last element; nothing if it leaves int64 or a size is 0.
std::optional<int64_t> elements_spanned(const Layout& layout) {
  std::optional<int64_t> spanned = 1;
  for (UINT d = 0; d < layout.dimension_count && spanned; ++d) {
    const int64_t size = layout.sizes[d];
    if (size == 0) {
      return std::nullopt;
    }
    if (layout.strides == nullptr) {
      spanned = checked_mul(*spanned, size);
    } else {
      const auto reach = checked_mul(size - 1, layout.strides[d]);
      spanned = reach ? checked_add(*spanned, *reach) : std::nullopt;
    }
  }
  return spanned;
}

std::optional<int64_t> bytes_of(int64_t elements, int bits) {
  return bits < 8 ? elements / 2 + elements % 2 : checked_mul(elements, bits / 8);
}

}  // namespace

UINT64 directml::DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE type, UINT dimension_count,
                                         const UINT* sizes, const UINT* strides) noexcept {
  const int bits = detail::bits_of(type);
  if (bits == 0 || dimension_count > DML_TENSOR_DIMENSION_COUNT_MAX1 ||
      (sizes == nullptr && dimension_count > 0)) {
    return 0;
  }
  const auto elements = elements_spanned({dimension_count, sizes, strides});
  const auto bytes = elements ? bytes_of(*elements, bits) : std::nullopt;
  const auto padded = bytes ? checked_add(*bytes, 3) : std::nullopt;
  return padded ? static_cast<UINT64>(*padded) / 4 * 4 : 0;
}

}  // namespace sheaf::dml

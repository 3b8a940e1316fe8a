// SPDX-License-Identifier: MIT
#include "conformance/layout.h"

#include <algorithm>
#include <cstring>

namespace sheaf::cli {
namespace {

constexpr std::byte kPattern{0xA5};

// A stride that would leave any buffer, for dimensions in which no step is ever taken.
constexpr int64_t kUnusedStride = int64_t{1} << 50U;

// The strides, and how many elements of memory they span.
struct Strides {
  Dims strides;
  int64_t span = 1;
};

Strides strides_for(const Dims& sizes, Layout layout) {
  const int rank = sizes.size();
  Strides result{Dims(rank, layout == Layout::kPadded ? kUnusedStride : 1), 1};
  const int64_t gap = layout == Layout::kPadded ? 1 : 0;
  for (int i = 0; i < rank; ++i) {
    const int d = layout == Layout::kTransposed ? i : rank - 1 - i;
    if (sizes[d] > 1) {
      const int64_t stride = result.span + gap;
      result.strides[d] = layout == Layout::kReversed ? -stride : stride;
      result.span += (sizes[d] - 1) * stride;
    }
  }
  return result;
}

}  // namespace

std::string_view to_string(Layout layout) {
  constexpr std::string_view kNames[] = {"packed", "padded", "reversed", "transposed"};
  return kNames[static_cast<int>(layout)];
}

Placed::Placed(const TensorSpec& spec, Layout layout) : spec_(spec.dtype, spec.sizes) {
  const int64_t count = element_count(spec.sizes);
  if (count == 0) {
    return;
  }
  int64_t span = count;
  if (layout != Layout::kPacked) {
    const Strides chosen = strides_for(spec.sizes, layout);
    spec_.strides = chosen.strides;
    span = chosen.span;
    first_ = layout == Layout::kReversed ? span - 1 : 0;
  }
  memory_.assign(static_cast<size_t>(span * spec.dtype.bytes()), kPattern);
}

template <class Visit>
void Placed::for_each_element(Visit visit) const {
  const int64_t count = element_count(spec_.sizes);
  const int64_t bytes = spec_.dtype.bytes();
  for (int64_t e = 0; e < count; ++e) {
    int64_t at = first_;
    int64_t rest = e;
    for (int d = spec_.rank() - 1; d >= 0; --d) {
      at += spec_.sizes[d] > 1 ? rest % spec_.sizes[d] * spec_.strides[d] : 0;
      rest /= spec_.sizes[d];
    }
    visit(at * bytes, e * bytes);
  }
}

void Placed::write(const Literal& elements) {
  for_each_element([&](int64_t at, int64_t packed) {
    std::memcpy(memory_.data() + at, elements.data() + packed,
                static_cast<size_t>(spec_.dtype.bytes()));
  });
}

Literal Placed::read() const {
  Literal elements(static_cast<size_t>(element_count(spec_.sizes) * spec_.dtype.bytes()));
  for_each_element([&](int64_t at, int64_t packed) {
    std::memcpy(elements.data() + packed, memory_.data() + at,
                static_cast<size_t>(spec_.dtype.bytes()));
  });
  return elements;
}

bool Placed::untouched() const {
  return std::all_of(memory_.begin(), memory_.end(), [](std::byte b) { return b == kPattern; });
}

bool Placed::gaps_untouched() const {
  Placed gaps = *this;
  gaps.write(
      Literal(static_cast<size_t>(element_count(spec_.sizes) * spec_.dtype.bytes()), kPattern));
  return gaps.untouched();
}

}  // namespace sheaf::cli

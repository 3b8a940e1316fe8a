// SPDX-License-Identifier: MIT
#include "sheaf/tensor.h"

#include <algorithm>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {

namespace detail {

void throw_too_many_dimensions(int64_t rank) {
  refuse_tensor({Reason::kRank, {}, -1, {rank}, {kMaxRank}}, "too many dimensions",
                cat("rank ", rank, ", but at most ", kMaxRank, " are supported"),
                "no tensor can be made", "merging dimensions that are adjacent in memory");
}

void check_view_count(const TensorSpec& spec, int64_t buffer_elements) {
  const int64_t needed = element_count(spec.sizes);
  if (needed != buffer_elements) {
    refuse_tensor({Reason::kShape, {}, -1, {needed}, {buffer_elements}},
                  "sizes do not match the buffer",
                  cat("sizes ", bracketed(spec.sizes), " need ", needed,
                      " elements, but the buffer has ", buffer_elements),
                  spec.str(), "sizes whose product is the buffer's length, or give strides");
  }
}

void check_view_bounds(const TensorSpec& spec, int64_t first, int64_t buffer_elements) {
  if (spec.strides.size() != spec.sizes.size()) {
    refuse_tensor({Reason::kStrides}, "strides do not match sizes",
                  cat(spec.sizes.size(), " sizes but ", spec.strides.size(), " strides"),
                  spec.str(), "one stride, in elements, for each dimension");
  }
  element_count(spec.sizes);
  const auto range = byte_range(spec);
  const int64_t bytes = spec.dtype.bytes();
  const bool inside = range && first >= 0 && first <= buffer_elements &&
                      first + range->lo / bytes >= 0 &&
                      range->hi / bytes <= buffer_elements - first;
  if (!inside) {
    refuse_tensor({Reason::kStrides}, "view leaves its buffer",
                  cat("from element ", first, " these strides reach outside the buffer's ",
                      buffer_elements, " elements"),
                  spec.str(), "smaller sizes or strides; strides are in elements");
  }
}

}  // namespace detail

Dims contiguous_strides(const Dims& sizes) {
  element_count(sizes);  // refuses products that the loop below could not hold
  Dims strides(sizes.size(), 1);
  for (int d = sizes.size() - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * std::max<int64_t>(1, sizes[d + 1]);
  }
  return strides;
}

int64_t element_count(const Dims& sizes) {
  // Sizes of 0 do not hide the others: [0, 2^62, 8] is refused.
  int64_t product = 1;
  bool empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) {
      refuse_tensor({Reason::kShape, {}, -1, sizes}, "negative size",
                    cat("size ", size, ", but sizes are 0 or more"),
                    cat("sizes ", bracketed(sizes)), "checking how the shape was computed");
    }
    empty = empty || size == 0;
    const auto next = checked_mul(product, std::max<int64_t>(1, size));
    if (!next) {
      refuse_tensor({Reason::kTooLarge, {}, -1, sizes}, "tensor too large",
                    "the sizes multiply to more than 2^63 - 1", cat("sizes ", bracketed(sizes)),
                    "checking how the shape was computed");
    }
    product = *next;
  }
  return empty ? 0 : product;
}

TensorSpec::TensorSpec(DType type, const Dims& dims)
    : dtype(type), sizes(dims), strides(contiguous_strides(dims)) {}

std::string TensorSpec::str() const {
  std::string text = dtype.name() + bracketed(sizes);
  bool contiguous = strides.size() == sizes.size();
  int64_t expected = 1;
  for (int d = sizes.size() - 1; contiguous && d >= 0; --d) {
    contiguous = sizes[d] <= 1 || strides[d] == expected;
    contiguous =
        contiguous && !__builtin_mul_overflow(expected, std::max<int64_t>(1, sizes[d]), &expected);
  }
  return contiguous ? text : text + " strides " + bracketed(strides);
}

namespace {

// A gather reaches all over large arrays: with small pages, every row would cost a walk through the
// page table. Those huge pages that lie inside are asked for; a hint, so a refusal does no harm.
void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] int64_t bytes) {
#ifdef __linux__
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = (address + kHugePage - 1) & -kHugePage;
  const uintptr_t end = (address + static_cast<uintptr_t>(bytes)) & -kHugePage;
  if (begin < end) {
    madvise(static_cast<std::byte*>(memory) + (begin - address), end - begin, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace

Array::Array(const TensorSpec& spec)
    : spec_(spec.dtype, spec.sizes), count_(element_count(spec.sizes)) {
  const auto bytes = checked_mul(std::max<int64_t>(1, count_), spec.dtype.bytes());
  void* memory =
      bytes ? ::operator new (static_cast<size_t>(*bytes), std::align_val_t{64}, std::nothrow)
            : nullptr;
  if (memory == nullptr) {
    throw Error(Refusal{
        .code = ErrorCode::kOutOfMemory,
        .cause = {Reason::kMemory, {}, -1, spec.sizes},
        .who = "tensor",
        .what = "out of memory",
        .detail = cat(count_, " elements of ", spec.dtype.bytes(), " bytes could not be allocated"),
        .given = spec_.str(),
        .next = "fewer indices per call, or an output of your own"});
  }
  memory_.reset(static_cast<std::byte*>(memory));
  ask_for_huge_pages(memory, *bytes);
}

void Array::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{64});
}

void Array::check_type(DType asked) const {
  if (asked != spec_.dtype) {
    refuse_tensor({Reason::kType}, "types differ",
                  cat("elements of ", asked.name(), " asked of ", spec_.dtype.name()), spec_.str(),
                  "the element type of the array");
  }
}

}  // namespace sheaf

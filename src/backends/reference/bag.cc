// SPDX-License-Identifier: MIT
//
// The oracle's bag: the formula of sheaf/bag.h, as plainly as it can be written.
#include "execution/bag_kernel.h"

#include <cstring>
#include <memory>
#include <new>

#include "backends/reference/backend.h"
#include "plan/resolve.h"

namespace sheaf::reference {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
constexpr bool kHasFloatArithmetic = std::is_floating_point_v<T> || SmallFloat<T>::value;

// Elements of the table as the type that the bag computes in.
template <class Computed>
class Table {
 public:
  Table(const BagNest& nest, const EncodedMemory& memory) : nest_(nest), memory_(memory) {}

  Computed element(int64_t entry, int64_t e) const {
    const EncodedRows& rows = nest_.rows;
    if (rows.encoding == Encoding::kPlain) {
      return plain(memory_.stored + entry * rows.row_stride + e * rows.element_stride);
    }
    if constexpr (kHasFloatArithmetic<Computed>) {
      const int64_t row = entry * nest_.rows_per_entry + e / rows.elements;
      return converted<Computed>(with_encoding(rows.encoding, [&]<Encoding kEncoding>() {
        return decoded<kEncoding>(rows, memory_, row, e % rows.elements);
      }));
    }
    return {};
  }

 private:
  Computed plain(const std::byte* at) const {
    if constexpr (kHasFloatArithmetic<Computed>) {
      Computed value{};
      if (nest_.rows.type != nest_.computed) {  // a float narrower than f32
        with_small_float(nest_.rows.type, [&](auto narrow) {
          value = converted<Computed>(load<decltype(narrow)>(at));
        });
        return value;
      }
    }
    return load<Computed>(at);
  }

  const BagNest& nest_;
  const EncodedMemory& memory_;
};

template <class Computed>
class BagWalk {
 public:
  BagWalk(const BagNest& nest, const BagBuffers& buffers, CancelPoint& cancel, Computed* joined)
      : nest_(nest),
        buffers_(buffers),
        cancel_(cancel),
        table_(nest, buffers.data),
        joined_(joined) {}

  template <Reduction kReduction>
  void bags() {
    for (int64_t s = 0; s < nest_.bags; ++s) {
      const int64_t begin = nest_.per_bag >= 0 ? s * nest_.per_bag : buffers_.offsets[s];
      const int64_t end = nest_.per_bag >= 0 ? begin + nest_.per_bag : buffers_.offsets[s + 1];
      int64_t count = 0;
      if (cancel_.before(nest_.elements * 8)) {
        return;
      }
      start<kReduction>();
      for (int64_t p = begin; p < end; ++p) {
        if (cancel_.before(nest_.elements * 8)) {
          return;
        }
        count += join<kReduction>(p) ? 1 : 0;
      }
      write(s, count);
    }
  }

 private:
  template <Reduction kReduction>
  void start() {
    Computed neutral{};
    if constexpr (kReduction != Reduction::kAdd) {
      neutral_element(nest_.computed, kReduction, reinterpret_cast<std::byte*>(&neutral));
    }
    for (int64_t e = 0; e < nest_.elements; ++e) {
      joined_[e] = neutral;
    }
  }

  // False if entry p is left out.
  template <Reduction kReduction>
  bool join(int64_t p) {
    const int64_t entry = nest_.indexed ? entry_of(p) : p;
    if (entry == nest_.padding && nest_.padding >= 0) {
      return false;
    }
    if (entry == kOutside && nest_.out_of_range != OutOfRange::kFill) {
      return false;
    }
    for (int64_t e = 0; e < nest_.elements; ++e) {
      Computed row = entry == kOutside ? load<Computed>(nest_.fill) : table_.element(entry, e);
      if constexpr (kHasFloatArithmetic<Computed>) {
        row = nest_.weighted ? reduced<Reduction::kMul>(row, weight(p)) : row;
      }
      joined_[e] = reduced<kReduction>(joined_[e], row);
    }
    return true;
  }

  int64_t entry_of(int64_t p) const {
    return with_index_type(nest_.index_type, [&](auto zero) {
      const auto value = load_index<decltype(zero)>(buffers_.indices, nest_.indices.at(p));
      return resolve(value, nest_.extent, nest_.negative, nest_.out_of_range);
    });
  }

  Computed weight(int64_t p) const {
    const std::byte* const at = buffers_.weights + nest_.weights.at(p) * nest_.weight_type.bytes();
    if (nest_.weight_type == f64) {
      return converted<Computed>(load<double>(at));
    }
    if (nest_.weight_type == f32) {
      return converted<Computed>(load<float>(at));
    }
    Computed value{};
    with_small_float(nest_.weight_type,
                     [&](auto narrow) { value = converted<Computed>(load<decltype(narrow)>(at)); });
    return value;
  }

  void write(int64_t s, int64_t count) {
    const auto bytes = static_cast<size_t>(nest_.output_type.bytes());
    for (int64_t e = 0; e < nest_.elements; ++e) {
      std::byte* const to = buffers_.output + s * nest_.bag_stride + e * nest_.element_stride;
      if (count == 0) {
        std::memcpy(to, nest_.empty, bytes);
        continue;
      }
      const Computed value = pooled(nest_.pool, joined_[e], count);
      if constexpr (kHasFloatArithmetic<Computed>) {
        if (nest_.output_type != nest_.computed) {  // a float narrower than f32
          with_small_float(nest_.output_type, [&](auto narrow) {
            const auto rounded = converted<decltype(narrow)>(value);
            std::memcpy(to, &rounded, sizeof rounded);
          });
          continue;
        }
      }
      std::memcpy(to, &value, sizeof value);
    }
  }

  const BagNest& nest_;
  const BagBuffers& buffers_;
  CancelPoint& cancel_;
  Table<Computed> table_;
  Computed* joined_;
};

template <class Computed>
BagEnd run_bags(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  const std::unique_ptr<Computed[]> joined(new (std::nothrow)
                                               Computed[static_cast<size_t>(nest.elements)]);
  if (joined == nullptr) {
    return BagEnd::kNoMemory;
  }
  CancelPoint cancel(launch.cancel);
  BagWalk<Computed> walk(nest, buffers, cancel, joined.get());
  switch (reduction_of(nest.pool)) {
    case Reduction::kMax:
      if constexpr (!is_complex_v<Computed>) {
        walk.template bags<Reduction::kMax>();
      }
      break;
    case Reduction::kMin:
      if constexpr (!is_complex_v<Computed>) {
        walk.template bags<Reduction::kMin>();
      }
      break;
    case Reduction::kMul: walk.template bags<Reduction::kMul>(); break;
    default: walk.template bags<Reduction::kAdd>(); break;
  }
  return BagEnd::kDone;
}

}  // namespace

BagEnd bag(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  return with_element_type(
      nest.computed, [&](auto zero) { return run_bags<decltype(zero)>(nest, buffers, launch); });
}

}  // namespace sheaf::reference

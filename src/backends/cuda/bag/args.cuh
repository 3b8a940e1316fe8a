// SPDX-License-Identifier: MIT
//
// A bag as kernels take it: by value, with what its entries mean.
#pragma once

#include <algorithm>

#include "backends/cuda/bag/bag.h"
#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/kernel/narrow.cuh"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/scatter/accumulate.cuh"
#include "support/divisor.h"

namespace sheaf::cuda {

// EntryPlaces. As a rule the entries are at one distance, and there is one row of them.
struct EntryWalk {
  WideDivisor columns;
  int64_t outer = 0, inner = 0;
  bool one_row = true;

  EntryWalk() = default;
  EntryWalk(const EntryPlaces& from, int64_t entries) : outer(from.outer), inner(from.inner) {
    const bool one_distance =
        from.outer % from.columns == 0 && from.outer / from.columns == from.inner;
    one_row = one_distance || from.columns >= entries;
    columns = WideDivisor(static_cast<uint64_t>(from.columns));
  }
  __device__ int64_t at(int64_t p) const {
    if (one_row) {
      return p * inner;
    }
    const auto row = static_cast<int64_t>(columns.quotient(static_cast<uint64_t>(p)));
    return row * outer + (p - row * static_cast<int64_t>(columns.divisor)) * inner;
  }
};

struct BagRule {
  Kind index_kind;
  Negative negative;
  OutOfRange out_of_range;
};

struct BagArgs {
  BagNest nest;
  EncodedMemory data;
  const std::byte* indices;
  const std::byte* weights;
  std::byte* output;
  BagSegments segments;              // offsets are null where every bag has nest.per_bag entries
  const unsigned long long* faults;  // of the segments; null: none can be bad
  // Not null: the segments, which are offsets. The kernel begins before they have been checked,
  // reads them itself, and waits for the check before it writes.
  const std::byte* unchecked;
  const Verdict* check;  // of a check that ran before; null: there was none
  Verdict* report;       // where bad indices that are met are reported; may be null
  BagRule rule;
  EntryWalk index_walk, weight_walk;
  int64_t entry_step;                 // what an entry is multiplied with to find its row
  alignas(16) std::byte neutral[16];  // an element of the computed type
  int64_t long_limit;                 // bags of more entries are left to pool_long.cuh

  // pool.cuh: a group of 1 << log_lanes threads has a chunk of the rows of bags_each bags.
  int log_lanes;
  int bags_each;
  int64_t ranges;  // of bags
  WideDivisor chunks;
  // This launch stands behind another that it need not wait for: only its last block does, so that
  // it does not end before.
  bool beside;
};

// What stands for an entry's row: a multiple of entry_step, or one of these, which are less.
inline constexpr int64_t kLeftOut = INT64_MIN;
inline constexpr int64_t kFilled = INT64_MIN + 1;

__device__ inline bool has_row(int64_t place) { return place > kFilled; }

// Whether segments or indices were found to be bad. By whole warps; some of their threads may have
// ended.
__device__ inline bool bag_refused(const BagArgs& args) {
  static_assert(kSegmentParts == 64);
  bool bad = refused(args.check);
  if (args.faults != nullptr) {
    const auto two = reinterpret_cast<const ulonglong2*>(args.faults)[threadIdx.x % 32];
    bad = bad || (two.x | two.y) != 0;
  }
  return __any_sync(~0U, bad);
}

// Where bag s begins, and for s = bags where the last one ends, as it stands there.
__device__ inline int64_t raw_begin(const BagArgs& args, int64_t s) {
  if (args.segments.offsets == nullptr) {
    return s * args.nest.per_bag;
  }
  if (args.unchecked == nullptr) {
    return args.segments.offsets[s];
  }
  if (s >= args.nest.segments) {
    return args.nest.entries;  // the one that offsets may leave out
  }
  const Kind kind = args.nest.segment_type.kind();
  const int64_t at = s * args.nest.segment_stride;
  return kind == Kind::kInt64 ? load_raw<Indices::kBits64>(kind, args.unchecked, at)
                              : load_raw<Indices::kAnyType>(kind, args.unchecked, at);
}

// The same within the entries, whatever stood there: offsets that were not checked, or ids that
// changed while they were searched.
__device__ inline int64_t bag_begin(const BagArgs& args, int64_t s) {
  return min(max(raw_begin(args, s), int64_t{0}), args.nest.entries);
}

// Index p as it stands there, or p itself.
__device__ inline int64_t raw_entry(const BagArgs& args, int64_t p) {
  if (!args.nest.indexed) {
    return p;
  }
  const int64_t at = args.index_walk.at(p);
  if (args.rule.index_kind == Kind::kInt64) {
    return load_raw<Indices::kBits64>(args.rule.index_kind, args.indices, at);
  }
  return load_raw<Indices::kAnyType>(args.rule.index_kind, args.indices, at);
}

// resolve.cuh's entry_of() with the division in place: a call would take registers from the rows
// that are in flight.
__device__ inline int64_t bag_entry(const BagArgs& args, int64_t raw) {
  const int64_t extent = args.nest.extent;
  const bool is_u64 = args.rule.index_kind == Kind::kUInt64;
  const bool below = raw < 0 && !is_u64;
  const int64_t at = below && args.rule.negative == Negative::kFromEnd ? raw + extent : raw;
  if (static_cast<uint64_t>(at) < static_cast<uint64_t>(extent)) {
    return at;
  }
  switch (args.rule.out_of_range) {
    case OutOfRange::kClamp: return below ? 0 : extent - 1;
    case OutOfRange::kTrust: return raw;
    case OutOfRange::kWrap:
      return is_u64
                 ? static_cast<int64_t>(static_cast<uint64_t>(raw) % static_cast<uint64_t>(extent))
                 : (raw % extent + extent) % extent;
    case OutOfRange::kFail:
    case OutOfRange::kFill:
    case OutOfRange::kSkip: break;
  }
  return kOutside;
}

__device__ inline int64_t place_of(const BagArgs& args, int64_t raw) {
  const int64_t entry = args.nest.indexed ? bag_entry(args, raw) : raw;
  if (entry == kOutside) {
    if (args.report != nullptr) {
      args.report->met = 1;
    }
    return args.rule.out_of_range == OutOfRange::kFill ? kFilled : kLeftOut;
  }
  return entry == args.nest.padding ? kLeftOut : entry * args.entry_step;
}

template <class T>
inline constexpr bool kHasWeights = std::is_floating_point_v<T> || SmallFloat<T>::value;

// Weights of types without products take no memory to speak of.
template <class Computed>
using WeightOf = std::conditional_t<kHasWeights<Computed>, Computed, uint8_t>;

template <class T>
__device__ T read_as(const std::byte* at) {
  return *reinterpret_cast<const T*>(at);
}

template <class Computed>
__device__ WeightOf<Computed> weight_at(const BagArgs& args, int64_t p) {
  if constexpr (kHasWeights<Computed>) {
    const int64_t at = args.weight_walk.at(p);
    switch (args.nest.weight_type.kind()) {
      case Kind::kFloat64: return converted<Computed>(read_as<double>(args.weights + at * 8));
      case Kind::kFloat16: return converted<Computed>(read_as<float16>(args.weights + at * 2));
      case Kind::kBFloat16: return converted<Computed>(read_as<bfloat16>(args.weights + at * 2));
      default: return converted<Computed>(read_as<float>(args.weights + at * 4));
    }
  }
  return {};
}

template <class Computed>
__device__ Computed weighted(Computed row, WeightOf<Computed> weight) {
  if constexpr (std::is_floating_point_v<Computed>) {
    return row * weight;  // a NaN is made the one NaN at the end
  } else if constexpr (kHasWeights<Computed>) {
    return reduced<Reduction::kMul>(row, weight);
  }
  return row;
}

// plan/bag.h's pooled().
template <class T>
__device__ T pooled_value(Pool pool, T joined, int64_t count) {
  if (pool == Pool::kMean) {
    return mean_of(joined, count);
  }
  if (pool == Pool::kSqrtN) {
    const double root = sqrt(static_cast<double>(count));
    if constexpr (SmallFloat<T>::value) {
      const double value = from_float_bits(SmallFloat<T>::kFormat, joined.bits);
      return {static_cast<decltype(T::bits)>(
          to_float_bits(SmallFloat<T>::kFormat, one_nan(value / root)))};
    } else if constexpr (std::is_floating_point_v<T>) {
      return one_nan(static_cast<T>(joined / root));
    }
  }
  return joined;
}

// Writes `elements` elements of a bag without rows.
__device__ inline void write_empty(const BagArgs& args, int64_t bag, int64_t element,
                                   int elements) {
  const auto bytes = static_cast<int>(args.nest.output_type.bytes());
  std::byte* to = args.output + bag * args.nest.bag_stride + element * args.nest.element_stride;
#pragma unroll 1
  for (int i = 0; i < elements; ++i, to += args.nest.element_stride) {
#pragma unroll 1
    for (int k = 0; k < bytes; ++k) {
      to[k] = args.nest.empty[k];
    }
  }
}

// Writes one element of a bag of `count` rows. kDivides: the pool may divide by their number.
template <bool kDivides, class Computed>
__device__ void write_element(const BagArgs& args, int64_t bag, int64_t element, Computed joined,
                              int64_t count) {
  std::byte* const to =
      args.output + bag * args.nest.bag_stride + element * args.nest.element_stride;
  const auto put = [&](auto value) { *reinterpret_cast<decltype(value)*>(to) = value; };
  if (count == 0) {
    return write_empty(args, bag, element, 1);
  }
  const Computed value = kDivides ? pooled_value(args.nest.pool, joined, count) : joined;
  if constexpr (std::is_same_v<Computed, float>) {
    switch (args.nest.output_type.kind()) {
      case Kind::kFloat16: return put(narrow_f16(value));
      case Kind::kBFloat16: return put(narrow_bf16(value));
      case Kind::kFloat8E4M3: return put(converted<float8_e4m3>(value));
      case Kind::kFloat8E5M2: return put(converted<float8_e5m2>(value));
      default: break;
    }
  }
  put(value);
}

}  // namespace sheaf::cuda

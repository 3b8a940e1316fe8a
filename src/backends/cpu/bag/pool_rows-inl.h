// SPDX-License-Identifier: MIT
//
// The loops of a bag. Elements are joined in registers, up to 16 vectors of columns at a time,
// while the rows of the bag pass by; sums therefore have the order of the rows, whatever the
// vectors' length.
#if defined(SHEAF_CPU_POOL_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_POOL_ROWS_INL
#undef SHEAF_CPU_POOL_ROWS_INL
#else
#define SHEAF_CPU_POOL_ROWS_INL
#endif

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/bag/pool_rows.h"
#include "backends/cpu/bag/row_sources-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE Vector one_nan_vector(Vector value) {
  return hn::IfThenElse(hn::IsNaN(value),
                        hn::Set(Floats(), std::numeric_limits<float>::quiet_NaN()), value);
}

// The larger of two, for kMax, or the smaller. Of equal zeros it is the first that came, and a NaN
// stays one.
template <Reduction kReduction>
HWY_INLINE Vector better_vector(Vector before, Vector row) {
  constexpr bool kLargest = kReduction == Reduction::kMax;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  // The instruction gives its second operand if both are equal, and if one is NaN.
  const auto better = kLargest ? hn::Max(row, before) : hn::Min(row, before);
  return hn::IfThenElse(hn::IsNaN(row), row, better);
#elif HWY_TARGET == HWY_NEON
  // The instruction gives NaN if one is NaN; of zeros it knows the sign.
  const auto better =
      Vector(kLargest ? vmaxq_f32(row.raw, before.raw) : vminq_f32(row.raw, before.raw));
  const auto stays = kLargest ? hn::Ge(before, row) : hn::Le(before, row);
  return hn::IfThenElse(stays, before, better);
#else
  const auto better = kLargest ? hn::Gt(row, before) : hn::Lt(row, before);
  return hn::IfThenElse(hn::Or(better, hn::IsNaN(row)), row, before);
#endif
}

template <Reduction kReduction>
HWY_INLINE Vector joined_vector(Vector before, Vector row) {
  if constexpr (kReduction == Reduction::kAdd) {
    return hn::Add(before, row);
  } else if constexpr (kReduction == Reduction::kMul) {
    return hn::Mul(before, row);
  } else {
    return better_vector<kReduction>(before, row);
  }
}

template <Reduction kReduction>
constexpr float start_of() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return kReduction == Reduction::kMul   ? 1.0F
         : kReduction == Reduction::kMax ? -kInfinity
         : kReduction == Reduction::kMin ? kInfinity
                                         : 0.0F;
}

// The rows of one part, and where their sums are.
struct PartRows {
  const std::byte* table;
  const int64_t* rows;
  const float* weights;
  int64_t count;
  int64_t elements;
  float* sums;
  bool starts;  // the bag has no rows before these
};

// Elements [e, e + count) of a row that is joined soon, and its scale.
template <class Source>
HWY_INLINE void prefetch_row(const std::byte* row, int64_t elements, int64_t e, int64_t count) {
  constexpr int64_t kLineBytes = 64;
  const std::byte* const first = row + Source::kFirst + e * Source::kBits / 8;
  const int64_t bytes = count * Source::kBits / 8;
  for (int64_t at = 0; at < bytes; at += kLineBytes) {
    __builtin_prefetch(first + at);
  }
  __builtin_prefetch(Source::kScaleBehind ? row + (elements * Source::kBits + 7) / 8
                                          : first + bytes - 1);
}

// Columns from element `e` on, through all rows: a vector of them for each number of the sequence.
// Vectors of some instruction sets have no size, so they are arguments and no array.
template <class Source, Reduction kReduction, bool kWeighted, int... kNumbers, class... Vectors>
HWY_INLINE void join_vectors(const PartRows& part, int64_t e,
                             std::integer_sequence<int, kNumbers...> /*numbers*/, Vectors... sums) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const std::byte* const table = part.table;
  const int64_t* const rows = part.rows;
  const int64_t count = part.count;
  const int64_t elements = part.elements;
  constexpr bool kWhole = sizeof...(kNumbers) % 4 == 0;
  for (int64_t r = 0; r < count; ++r) {
    prefetch_row<Source>(table + rows[r + kRowsAhead], elements, e,
                         lanes * int64_t{sizeof...(kNumbers)});
    const Source source(table + rows[r], elements, e);
    const auto weight = hn::Set(d, kWeighted ? part.weights[r] : 1.0F);
    const auto step = [&](Vector before, int number) HWY_ATTR {
      Vector row = source.template vector<kWhole>(d, number * lanes);
      if constexpr (kWeighted) {
        row = hn::Mul(row, weight);
      }
      return joined_vector<kReduction>(before, row);
    };
    ((sums = step(sums, kNumbers)), ...);
  }
  (hn::StoreU(one_nan_vector(sums), d, part.sums + e + kNumbers * lanes), ...);
}

template <class Source, Reduction kReduction, bool kWeighted, int... kNumbers>
HWY_INLINE void join_columns(const PartRows& part, int64_t e,
                             std::integer_sequence<int, kNumbers...> numbers) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = hn::Set(d, start_of<kReduction>());
  const auto first = [&](int number) HWY_ATTR {
    return part.starts ? start : hn::LoadU(d, part.sums + e + number * lanes);
  };
  join_vectors<Source, kReduction, kWeighted>(part, e, numbers, first(kNumbers)...);
}

// Column by column.
template <class Source, Reduction kReduction, bool kWeighted>
HWY_INLINE void join_few(const PartRows& part, int64_t begin, int64_t end) {
  for (int64_t e = begin; e < end; ++e) {
    float sum = part.starts ? start_of<kReduction>() : part.sums[e];
    for (int64_t r = 0; r < part.count; ++r) {
      if (e == begin) {
        prefetch_row<Source>(part.table + part.rows[r + kRowsAhead], part.elements, e, end - e);
      }
      float row = Source(part.table + part.rows[r], part.elements, e).one(0);
      if constexpr (kWeighted) {
        row = row * part.weights[r];
      }
      sum = reduced_float<kReduction>(sum, row);
    }
    part.sums[e] = sum;
  }
}

template <class Source, Reduction kReduction, bool kWeighted>
HWY_INLINE void join_part(const PartRows& part, int64_t begin, int64_t end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  const auto join = [&](int64_t first, auto numbers) HWY_ATTR {
    join_columns<Source, kReduction, kWeighted>(part, first, numbers);
  };
  int64_t e = begin;
  constexpr bool kCompares = kReduction == Reduction::kMax || kReduction == Reduction::kMin;
  if constexpr (Source::kMostVectors == 16 && !kCompares) {  // comparing takes registers
    for (; e + 16 * lanes <= end; e += 16 * lanes) {
      join(e, std::make_integer_sequence<int, 16>());
    }
  }
  for (; e + 8 * lanes <= end; e += 8 * lanes) {
    join(e, std::make_integer_sequence<int, 8>());
  }
  if (e + 4 * lanes <= end) {
    join(e, std::make_integer_sequence<int, 4>());
    e += 4 * lanes;
  }
  if (e + 2 * lanes <= end) {
    join(e, std::make_integer_sequence<int, 2>());
    e += 2 * lanes;
  }
  if (e + lanes <= end) {
    join(e, std::make_integer_sequence<int, 1>());
    e += lanes;
  }
  // The last vector ends with the last column. What it has in common with the one before is joined
  // twice, to the same sums, where both begin without any.
  const bool whole_bytes = (end - lanes) * Source::kBits % 8 == 0;
  if (e < end && part.starts && end - lanes >= begin && whole_bytes) {
    join(end - lanes, std::make_integer_sequence<int, 1>());
    e = end;
  }
  join_few<Source, kReduction, kWeighted>(part, e, end);
}

using LooseBits [[gnu::aligned(1), gnu::may_alias]] = uint16_t;  // outputs may begin at any byte

template <class Format>
HWY_INLINE void narrow_loop(const float* from, LooseBits* to, int64_t count) {
  int64_t i = 0;
#if SHEAF_CPU_CONVERTS_F16
  if constexpr (std::is_same_v<Format, Float16>) {  // one instruction, but for NaN
    const Floats d;
    const hn::Rebind<hwy::float16_t, Floats> halves;
    const hn::Repartition<uint8_t, decltype(halves)> bytes;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
      const auto half = hn::DemoteTo(halves, one_nan_vector(hn::LoadU(d, from + i)));
      hn::StoreU(hn::BitCast(bytes, half), bytes, reinterpret_cast<uint8_t*>(to + i));
    }
  }
#endif
  for (; i < count; ++i) {
    to[i] = Format::narrow(from[i]);
  }
}

HWY_INLINE void narrow(bool half, const float* from, std::byte* to, int64_t count) {
  auto* const bits = reinterpret_cast<LooseBits*>(to);
  half ? narrow_loop<Float16>(from, bits, count) : narrow_loop<BFloat16>(from, bits, count);
}

// sums[0, count) over the number of rows, or its root, as pooled() has it.
HWY_INLINE void divide_sums(Pool pool, int64_t rows, float* sums, int64_t count) {
  // A float holds the number exactly, and a quotient of floats that is rounded to double on the way
  // is the same float.
  constexpr int64_t kExact = int64_t{1} << 24;
  if (pool == Pool::kMean && rows <= kExact) {
    const auto divisor = static_cast<float>(rows);
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = one_nan(sums[i] / divisor);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = pooled(pool, sums[i], rows);
    }
  }
}

// The columns of a bag that has all of its rows.
inline void finish_bag(const BagBlock& block, const BagPart& part, float* sums, std::byte* output) {
  const int64_t count = block.end - block.begin;
  float* const first = sums + block.begin;
  std::byte* const to = output + block.begin * block.output_type.bytes();
  if (divides(block.pool)) {
    divide_sums(block.pool, part.before + part.count, first, count);
  }
  if (block.output_type != f32) {
    narrow(block.output_type == f16, first, to, count);
  } else if (block.sums != nullptr) {
    std::memcpy(to, first, static_cast<size_t>(count) * sizeof(float));
  }
}

template <class Source, Reduction kReduction, bool kWeighted>
void pool_block(const BagBlock& block) {
  PartRows rows{block.table, block.rows, block.weights, 0, block.elements, block.sums, true};
  const bool sums_are_output = block.sums == nullptr && !divides(block.pool);
  for (int64_t i = 0; i < block.part_count; ++i) {
    const BagPart& part = block.parts[i];
    std::byte* const output = block.output + part.bag * block.bag_stride;
    rows.count = part.count;
    rows.starts = part.before == 0;
    rows.sums = block.sums != nullptr ? block.sums : reinterpret_cast<float*>(output);
    join_part<Source, kReduction, kWeighted>(rows, block.begin, block.end);
    rows.rows += part.count;
    rows.weights += kWeighted ? part.count : 0;
    if (part.ends && !sums_are_output) {
      finish_bag(block, part, rows.sums, output);
    }
  }
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

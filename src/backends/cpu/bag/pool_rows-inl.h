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

using LooseBits [[gnu::aligned(1), gnu::may_alias]] = uint16_t;  // outputs may begin at any byte

// A vector of floats as the bits of Format, to the nearest, as Format::narrow has it.
#if SHEAF_CPU_CONVERTS_F16
HWY_INLINE hn::Vec<Halves> narrow_vector(Float16 /*format*/, Vector value) {
  const hn::Rebind<hwy::float16_t, Floats> halves;
  return hn::BitCast(Halves(), hn::DemoteTo(halves, one_nan_vector(value)));
}
#endif
HWY_INLINE hn::Vec<Halves> narrow_vector(BFloat16 /*format*/, Vector value) {
  const Words words;
  const auto bits = hn::BitCast(words, one_nan_vector(value));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7FFFU))));
  return hn::DemoteTo(Halves(), hn::BitCast(Ints(), rounded));
}

#if HWY_TARGET != HWY_SCALAR
template <class Format>
HWY_INLINE void store_narrow(Vector value, LooseBits* to) {
  const hn::Repartition<uint8_t, Halves> bytes;
  hn::StoreU(hn::BitCast(bytes, narrow_vector(Format(), value)), bytes,
             reinterpret_cast<uint8_t*>(to));
}
#endif

// The rows [first, end) of one bag, or of a part of it, and where their sums go.
struct BagRows {
  const std::byte* table;
  int64_t extent, row_stride;
  const LooseRow* numbers;
  const LooseFloat* weights;
  int64_t elements;
  int64_t first, end;
  float* sums;
  LooseBits* narrow_sums;  // if not null, they go there instead, rounded
  bool half;               // to f16, not bf16
  bool starts;             // the bag has no rows before these

  // Volatile: what is compared is what is used, whoever changes it meanwhile.
  HWY_INLINE int64_t number(int64_t r) const {
    return *static_cast<const volatile LooseRow*>(numbers + r);
  }
  HWY_INLINE bool has(int64_t number) const {
    return static_cast<uint64_t>(number) < static_cast<uint64_t>(extent);
  }
};

HWY_INLINE void prefetch_at(uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

// `count` elements of a row that is joined soon, and its scale. `first`: where the first of them is
// in row 0; `scale`: scale_from it. A number that is no row is some address, of which a prefetch
// makes nothing.
template <class Source>
HWY_INLINE void prefetch_row(const BagRows& bag, int64_t r, const std::byte* first, int64_t count,
                             int64_t scale) {
  constexpr uintptr_t kLineBytes = 64;
  // Some 2 KiB of short rows cover a memory's latency. x86-64 has more requests in flight, which
  // f32 takes up with the lines of one row.
  constexpr int64_t kAhead = HWY_ARCH_X86 && Source::kBits < 32 ? kMostAhead : kMostAhead / 2;
  const auto number = static_cast<uintptr_t>(bag.numbers[r + kAhead]);
  const uintptr_t at =
      reinterpret_cast<uintptr_t>(first) + number * static_cast<uintptr_t>(bag.row_stride);
  const auto bytes = static_cast<uintptr_t>(count * Source::kBits / 8);
  for (uintptr_t line = 0; line < bytes; line += kLineBytes) {
    prefetch_at(at + line);
  }
  // What may be in a line of its own: the scale behind the elements, or the last of these.
  const bool scale_behind = Source::kScaled && Source::kFirst == 0;
  prefetch_at(at + (scale_behind ? static_cast<uintptr_t>(scale) : bytes - 1));
}

HWY_INLINE void store_sums(const BagRows& bag, Vector sums, int64_t e) {
#if HWY_TARGET != HWY_SCALAR
  if (bag.narrow_sums != nullptr) {
#if SHEAF_CPU_CONVERTS_F16
    if (bag.half) {
      return store_narrow<Float16>(sums, bag.narrow_sums + e);
    }
#endif
    return store_narrow<BFloat16>(sums, bag.narrow_sums + e);
  }
#endif
  hn::StoreU(one_nan_vector(sums), Floats(), bag.sums + e);
}

HWY_INLINE void store_sum(const BagRows& bag, float sum, int64_t e) {
  if (bag.narrow_sums == nullptr) {
    bag.sums[e] = sum;
  } else {
    bag.narrow_sums[e] = bag.half ? Float16::narrow(sum) : BFloat16::narrow(sum);
  }
}

// Columns from element `e` on, through all rows: a vector of them for each number of the sequence.
// Vectors of some instruction sets have no size, so they are arguments and no array. False: a row
// is not in the table, and nothing was written of these columns.
template <class Source, Reduction kReduction, bool kWeighted, int... kNumbers, class... Vectors>
HWY_INLINE bool join_vectors(const BagRows& rows, int64_t e,
                             std::integer_sequence<int, kNumbers...> /*numbers*/, Vectors... sums) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const BagRows bag = rows;  // in registers
  const std::byte* const first = bag.table + Source::kFirst + e * Source::kBits / 8;
  const int64_t scale = scale_from<Source>(bag.elements, e);
  constexpr bool kWhole = sizeof...(kNumbers) % 4 == 0;
  for (int64_t r = bag.first; r < bag.end; ++r) {
    prefetch_row<Source>(bag, r, first, lanes * int64_t{sizeof...(kNumbers)}, scale);
    const int64_t named = bag.number(r);
    if (HWY_UNLIKELY(!bag.has(named))) {
      return false;
    }
    const Source source(first + named * bag.row_stride, scale);
    const auto weight = hn::Set(d, kWeighted ? bag.weights[r] : 1.0F);
    const auto step = [&](Vector before, int number) HWY_ATTR {
      Vector row = source.template vector<kWhole>(d, number * lanes);
      if constexpr (kWeighted) {
        row = hn::Mul(row, weight);
      }
      return joined_vector<kReduction>(before, row);
    };
    ((sums = step(sums, kNumbers)), ...);
  }
  (store_sums(bag, sums, e + kNumbers * lanes), ...);
  return true;
}

template <class Source, Reduction kReduction, bool kWeighted, int... kNumbers>
HWY_INLINE bool join_columns(const BagRows& bag, int64_t e,
                             std::integer_sequence<int, kNumbers...> numbers) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto start = hn::Set(d, start_of<kReduction>());
  const auto first = [&](int number) HWY_ATTR {
    return bag.starts ? start : hn::LoadU(d, bag.sums + e + number * lanes);
  };
  return join_vectors<Source, kReduction, kWeighted>(bag, e, numbers, first(kNumbers)...);
}

// Column by column.
template <class Source, Reduction kReduction, bool kWeighted>
HWY_INLINE bool join_few(const BagRows& bag, int64_t begin, int64_t end) {
  for (int64_t e = begin; e < end; ++e) {
    const std::byte* const first = bag.table + Source::kFirst + e * Source::kBits / 8;
    const int64_t scale = scale_from<Source>(bag.elements, e);
    float sum = bag.starts ? start_of<kReduction>() : bag.sums[e];
    for (int64_t r = bag.first; r < bag.end; ++r) {
      if (e == begin) {
        prefetch_row<Source>(bag, r, first, end - e, scale);
      }
      const int64_t named = bag.number(r);
      if (!bag.has(named)) {
        return false;
      }
      float row = Source(first + named * bag.row_stride, scale).one(e);
      if constexpr (kWeighted) {
        row = row * bag.weights[r];
      }
      sum = reduced_float<kReduction>(sum, row);
    }
    store_sum(bag, sum, e);
  }
  return true;
}

template <class Source, Reduction kReduction, bool kWeighted>
HWY_INLINE bool join_rows(const BagRows& bag, int64_t begin, int64_t end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t e = begin;
  const auto join = [&](int64_t at, auto numbers) HWY_ATTR {
    e = at + lanes * int64_t{numbers.size()};
    return join_columns<Source, kReduction, kWeighted>(bag, at, numbers);
  };
  constexpr bool kCompares = kReduction == Reduction::kMax || kReduction == Reduction::kMin;
  if constexpr (Source::kMostVectors == 16 && !kCompares) {  // comparing takes registers
    while (e + 16 * lanes <= end) {
      if (!join(e, std::make_integer_sequence<int, 16>())) {
        return false;
      }
    }
  }
  while (e + 8 * lanes <= end) {
    if (!join(e, std::make_integer_sequence<int, 8>())) {
      return false;
    }
  }
  if (e + 4 * lanes <= end && !join(e, std::make_integer_sequence<int, 4>())) {
    return false;
  }
  if (e + 2 * lanes <= end && !join(e, std::make_integer_sequence<int, 2>())) {
    return false;
  }
  if (e + lanes <= end && !join(e, std::make_integer_sequence<int, 1>())) {
    return false;
  }
  // The last vector ends with the last column. What it has in common with the one before is joined
  // twice, to the same sums, where both begin without any.
  const bool whole_bytes = (end - lanes) * Source::kBits % 8 == 0;
  if (e < end && bag.starts && end - lanes >= begin && whole_bytes) {
    return join(end - lanes, std::make_integer_sequence<int, 1>());
  }
  return join_few<Source, kReduction, kWeighted>(bag, e, end);
}

template <class Format>
HWY_INLINE void narrow_loop(const float* from, LooseBits* to, int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (SHEAF_CPU_CONVERTS_F16 || std::is_same_v<Format, BFloat16>) {
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) {
      store_narrow<Format>(hn::LoadU(d, from + i), to + i);
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

// The columns of a bag that has all of its rows, which are so many.
static HWY_NOINLINE void finish_bag(const BagBlock& block, int64_t rows, float* sums,
                                    std::byte* output) {
  const int64_t count = block.end - block.begin;
  float* const first = sums + block.begin;
  std::byte* const to = output + block.begin * block.output_type.bytes();
  if (divides(block.pool)) {
    divide_sums(block.pool, rows, first, count);
  }
  if (block.output_type != f32) {
    narrow(block.output_type == f16, first, to, count);
  } else if (block.sums != nullptr) {
    std::memcpy(to, first, static_cast<size_t>(count) * sizeof(float));
  }
}

// Whether vectors of sums are rounded before they are stored.
HWY_INLINE bool narrows_vectors(const BagBlock& block) {
  const bool converts = block.output_type == bf16 || SHEAF_CPU_CONVERTS_F16;
  return HWY_TARGET != HWY_SCALAR && block.output_type != f32 && converts && !divides(block.pool);
}

template <class Source, Reduction kReduction, bool kWeighted>
int64_t pool_block(const BagBlock& block) {
  BagRows bag{.table = block.table,
              .extent = block.extent,
              .row_stride = block.row_stride,
              .numbers = block.rows,
              .weights = block.weights,
              .elements = block.elements,
              .first = 0,
              .end = block.offsets[0],
              .sums = block.sums,
              .narrow_sums = nullptr,
              .half = block.output_type == f16,
              .starts = true};
  const bool sums_are_output = block.sums == nullptr && !divides(block.pool);
  const bool narrows = narrows_vectors(block);
  int64_t before = block.before;
  for (int64_t i = 0; i < block.bags; ++i, before = 0) {
    std::byte* const output = block.output + i * block.bag_stride;
    bag.first = bag.end;
    bag.end = block.offsets[i + 1];
    bag.starts = before == 0;
    const int64_t count = before + bag.end - bag.first;
    if (HWY_UNLIKELY(count == 0)) {
      continue;
    }
    const bool ends = i + 1 < block.bags || block.ends;
    const bool narrow_sums = narrows && bag.starts && ends;
    bag.sums = block.sums != nullptr ? block.sums : reinterpret_cast<float*>(output);
    bag.narrow_sums = narrow_sums ? reinterpret_cast<LooseBits*>(output) : nullptr;
    if (!join_rows<Source, kReduction, kWeighted>(bag, block.begin, block.end)) {
      return i;
    }
    if (!sums_are_output && !narrow_sums && ends) {
      finish_bag(block, count, bag.sums, output);
    }
  }
  return block.bags;
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h).
#include "backends/cpu/bag/pool_rows.h"

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/bag/pool_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/bag/pool_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

template <class Source, Reduction kReduction>
JoinRows pick_weighted(bool weighted) {
  return weighted ? join_rows<Source, kReduction, true> : join_rows<Source, kReduction, false>;
}

template <class Source>
JoinRows pick_pool(Pool pool, bool weighted) {
  switch (reduction_of(pool)) {
    case Reduction::kMax: return pick_weighted<Source, Reduction::kMax>(weighted);
    case Reduction::kMin: return pick_weighted<Source, Reduction::kMin>(weighted);
    case Reduction::kMul: return pick_weighted<Source, Reduction::kMul>(weighted);
    default: break;
  }
  return pick_weighted<Source, Reduction::kAdd>(weighted);
}

JoinRows target_joiner(const EncodedRows& rows, Pool pool, bool weighted) {
  switch (rows.encoding) {
    case Encoding::kRowU8F32: return pick_pool<ByteRow<Encoding::kRowU8F32>>(pool, weighted);
    case Encoding::kRowU8F16Front:
      return pick_pool<ByteRow<Encoding::kRowU8F16Front>>(pool, weighted);
    case Encoding::kRowU4F16: return pick_pool<NibbleRow>(pool, weighted);
    case Encoding::kPlain: break;
    default: return nullptr;
  }
  if (rows.type == f32) {
    return pick_pool<FloatRow>(pool, weighted);
  }
  if (rows.type == f16) {
    return pick_pool<HalfRow>(pool, weighted);
  }
  return rows.type == bf16 ? pick_pool<BrainRow>(pool, weighted) : nullptr;
}

void target_divide(float divisor, float* joined, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    joined[i] = one_nan(joined[i] / divisor);
  }
}

void target_one_nan(float* joined, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    joined[i] = one_nan(joined[i]);
  }
}

using LooseBits [[gnu::aligned(1), gnu::may_alias]] = uint16_t;  // outputs may begin at any byte

template <class Format>
void narrow_loop(const float* from, LooseBits* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = Format::narrow(from[i]);
  }
}

void target_narrow(bool half, const float* from, std::byte* to, int64_t count) {
  auto* const bits = reinterpret_cast<LooseBits*>(to);
  half ? narrow_loop<Float16>(from, bits, count) : narrow_loop<BFloat16>(from, bits, count);
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_joiner);
HWY_EXPORT(target_divide);
HWY_EXPORT(target_one_nan);
HWY_EXPORT(target_narrow);

JoinRows joiner_for(const BagNest& nest) {
  const EncodedRows& rows = nest.rows;
  const bool side_by_side =
      rows.encoding != Encoding::kPlain || rows.element_stride == rows.type.bytes();
  return nest.computed == f32 && side_by_side && nest.rows_per_entry == 1
             ? HWY_DYNAMIC_DISPATCH(target_joiner)(rows, nest.pool, nest.weighted)
             : nullptr;
}

void finish_floats(Pool pool, int64_t rows, float* joined, int64_t count) {
  // A float holds the number exactly, and a quotient of floats that is rounded to double on the way
  // is the same float.
  constexpr int64_t kExact = int64_t{1} << 24;
  if (pool == Pool::kMean && rows <= kExact) {
    HWY_DYNAMIC_DISPATCH(target_divide)(static_cast<float>(rows), joined, count);
  } else if (pool == Pool::kMean || pool == Pool::kSqrtN) {
    for (int64_t i = 0; i < count; ++i) {
      joined[i] = pooled(pool, joined[i], rows);
    }
  } else {
    HWY_DYNAMIC_DISPATCH(target_one_nan)(joined, count);
  }
}

void narrow_floats(DType type, const float* from, std::byte* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(target_narrow)(type == f16, from, to, count);
}

}  // namespace sheaf::cpu
#endif

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
PoolBlock pick_weighted(bool weighted) {
  return weighted ? pool_block<Source, kReduction, true> : pool_block<Source, kReduction, false>;
}

template <class Source>
PoolBlock pick_pool(Pool pool, bool weighted) {
  switch (reduction_of(pool)) {
    case Reduction::kMax: return pick_weighted<Source, Reduction::kMax>(weighted);
    case Reduction::kMin: return pick_weighted<Source, Reduction::kMin>(weighted);
    case Reduction::kMul: return pool_block<Source, Reduction::kMul, true>;  // weights of 1 do
    default: return pick_weighted<Source, Reduction::kAdd>(weighted);
  }
}

PoolBlock target_pooler(const EncodedRows& rows, Pool pool, bool weighted) {
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

void target_narrow(bool half, const float* from, std::byte* to, int64_t count) {
  narrow(half, from, to, count);
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_pooler);
HWY_EXPORT(target_narrow);

PoolBlock pooler_for(const BagNest& nest) {
  const EncodedRows& rows = nest.rows;
  const bool side_by_side =
      rows.encoding != Encoding::kPlain || rows.element_stride == rows.type.bytes();
  return nest.computed == f32 && side_by_side && nest.rows_per_entry == 1
             ? HWY_DYNAMIC_DISPATCH(target_pooler)(rows, nest.pool, nest.weighted)
             : nullptr;
}

void narrow_floats(DType type, const float* from, std::byte* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(target_narrow)(type == f16, from, to, count);
}

}  // namespace sheaf::cpu
#endif

// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set Highway knows on this architecture.
#include "backends/cpu/join.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/join.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/join-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

template <class Op>
Join pick(int64_t row_bytes) {
  const bool one = row_bytes == static_cast<int64_t>(sizeof(typename Op::Stored));
  return one ? join_elements<Op> : join_rows<Op>;
}

// The operation `Op<reduction>`, whatever the type. A sum of means is a sum.
template <template <Reduction> class Op>
Join pick_reduction(Reduction reduction, int64_t row_bytes) {
  switch (reduction) {
    case Reduction::kSub: return pick<Op<Reduction::kSub>>(row_bytes);
    case Reduction::kMul: return pick<Op<Reduction::kMul>>(row_bytes);
    case Reduction::kMin: return pick<Op<Reduction::kMin>>(row_bytes);
    case Reduction::kMax: return pick<Op<Reduction::kMax>>(row_bytes);
    default: return pick<Op<Reduction::kAdd>>(row_bytes);
  }
}

// The same for integers: only an order asks for the sign.
template <class Signed>
Join pick_integer(Reduction reduction, int64_t row_bytes, bool is_signed) {
  using Unsigned = std::make_unsigned_t<Signed>;
  switch (reduction) {
    case Reduction::kSub: return pick<Plain<Reduction::kSub, Unsigned>>(row_bytes);
    case Reduction::kMul: return pick<Plain<Reduction::kMul, Unsigned>>(row_bytes);
    case Reduction::kMin:
      return is_signed ? pick<Plain<Reduction::kMin, Signed>>(row_bytes)
                       : pick<Plain<Reduction::kMin, Unsigned>>(row_bytes);
    case Reduction::kMax:
      return is_signed ? pick<Plain<Reduction::kMax, Signed>>(row_bytes)
                       : pick<Plain<Reduction::kMax, Unsigned>>(row_bytes);
    default: return pick<Plain<Reduction::kAdd, Unsigned>>(row_bytes);
  }
}

template <Reduction kReduction>
using OnFloat = Plain<kReduction, float>;
template <Reduction kReduction>
using OnDouble = Plain<kReduction, double>;
template <Reduction kReduction>
using OnFloat16 = Small<kReduction, Float16>;
template <Reduction kReduction>
using OnBFloat16 = Small<kReduction, BFloat16>;

// Complex numbers are added and subtracted part by part: they are rows of their parts.
template <class Part>
Join pick_complex(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSub: return join_rows<Plain<Reduction::kSub, Part>>;
    // g++ 12 makes fused instructions of a complex product even where it is told not to.
    case Reduction::kMul: return join_by_definition;
    default: return join_rows<Plain<Reduction::kAdd, Part>>;
  }
}

Join pick_copy(int64_t row_bytes) {
  switch (row_bytes) {
    case 1: return copy_elements<uint8_t>;
    case 2: return copy_elements<uint16_t>;
    case 4: return copy_elements<uint32_t>;
    case 8: return copy_elements<uint64_t>;
    case 16: return copy_elements<uint64_t[2]>;
    default: return copy_rows;
  }
}

Join target_join(DType type, Reduction reduction, int64_t row_bytes) {
  if (reduction == Reduction::kNone) {
    return pick_copy(row_bytes);
  }
  switch (type.kind()) {
    case Kind::kBool: return pick_reduction<Bool>(reduction, row_bytes);
    case Kind::kInt8: return pick_integer<int8_t>(reduction, row_bytes, true);
    case Kind::kInt16: return pick_integer<int16_t>(reduction, row_bytes, true);
    case Kind::kInt32: return pick_integer<int32_t>(reduction, row_bytes, true);
    case Kind::kInt64: return pick_integer<int64_t>(reduction, row_bytes, true);
    case Kind::kUInt8: return pick_integer<int8_t>(reduction, row_bytes, false);
    case Kind::kUInt16: return pick_integer<int16_t>(reduction, row_bytes, false);
    case Kind::kUInt32: return pick_integer<int32_t>(reduction, row_bytes, false);
    case Kind::kUInt64: return pick_integer<int64_t>(reduction, row_bytes, false);
    case Kind::kFloat16: return pick_reduction<OnFloat16>(reduction, row_bytes);
    case Kind::kBFloat16: return pick_reduction<OnBFloat16>(reduction, row_bytes);
    case Kind::kFloat32: return pick_reduction<OnFloat>(reduction, row_bytes);
    case Kind::kFloat64: return pick_reduction<OnDouble>(reduction, row_bytes);
    case Kind::kComplex64: return pick_complex<float>(reduction);
    case Kind::kComplex128: return pick_complex<double>(reduction);
    default: return join_by_definition;  // 8-bit floats
  }
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_join);

Join join_for(DType type, Reduction reduction, int64_t row_bytes) {
  return HWY_DYNAMIC_DISPATCH(target_join)(type, reduction, row_bytes);
}

}  // namespace sheaf::cpu
#endif

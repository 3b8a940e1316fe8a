// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h).
#include "backends/cpu/reduce.h"

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

template <class Op>
ReduceRows pick(int64_t row_bytes) {
  const bool one = row_bytes == static_cast<int64_t>(sizeof(typename Op::Stored));
  return one ? reduce_elements<Op> : reduce_rows<Op>;
}

// The operation `Op<reduction>`, whatever the type. Means are added up first.
template <template <Reduction> class Op>
ReduceRows pick_reduction(Reduction reduction, int64_t row_bytes) {
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return pick<Op<Reduction::kAdd>>(row_bytes);
    case Reduction::kSub: return pick<Op<Reduction::kSub>>(row_bytes);
    case Reduction::kMul: return pick<Op<Reduction::kMul>>(row_bytes);
    case Reduction::kMin: return pick<Op<Reduction::kMin>>(row_bytes);
    case Reduction::kMax: return pick<Op<Reduction::kMax>>(row_bytes);
    case Reduction::kNone: break;  // target_reducer copies
  }
  return reduce_by_definition;
}

// The same for integers: only an order asks for the sign.
template <class Signed>
ReduceRows pick_integer(Reduction reduction, int64_t row_bytes, bool is_signed) {
  using Unsigned = std::make_unsigned_t<Signed>;
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return pick<Plain<Reduction::kAdd, Unsigned>>(row_bytes);
    case Reduction::kSub: return pick<Plain<Reduction::kSub, Unsigned>>(row_bytes);
    case Reduction::kMul: return pick<Plain<Reduction::kMul, Unsigned>>(row_bytes);
    case Reduction::kMin:
      return is_signed ? pick<Plain<Reduction::kMin, Signed>>(row_bytes)
                       : pick<Plain<Reduction::kMin, Unsigned>>(row_bytes);
    case Reduction::kMax:
      return is_signed ? pick<Plain<Reduction::kMax, Signed>>(row_bytes)
                       : pick<Plain<Reduction::kMax, Unsigned>>(row_bytes);
    case Reduction::kNone: break;
  }
  return reduce_by_definition;
}

template <Reduction kReduction>
using OnFloat = Plain<kReduction, float>;
template <Reduction kReduction>
using OnDouble = Plain<kReduction, double>;
template <Reduction kReduction>
using OnInt32 = Plain<kReduction, int32_t>;
template <Reduction kReduction>
using OnInt64 = Plain<kReduction, int64_t>;
template <Reduction kReduction>
using OnUInt32 = Plain<kReduction, uint32_t>;
template <Reduction kReduction>
using OnUInt64 = Plain<kReduction, uint64_t>;
template <Reduction kReduction>
using OnFloat16 = Small<kReduction, Float16>;
template <Reduction kReduction>
using OnBFloat16 = Small<kReduction, BFloat16>;

// Complex numbers are added and subtracted part by part: they are rows of their parts.
template <class Part>
ReduceRows pick_complex(Reduction reduction) {
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return reduce_rows<Plain<Reduction::kAdd, Part>>;
    case Reduction::kSub: return reduce_rows<Plain<Reduction::kSub, Part>>;
    case Reduction::kMul:  // g++ 12 fuses a complex product even where it is told not to
    case Reduction::kMin:
    case Reduction::kMax:
    case Reduction::kNone: break;
  }
  return reduce_by_definition;
}

// Elements of 4 and 8 bytes, straight from indices.
template <template <Reduction> class Op>
ReduceDirect pick_direct(Reduction reduction) {
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return reduce_direct<Op<Reduction::kAdd>>;
    case Reduction::kSub: return reduce_direct<Op<Reduction::kSub>>;
    case Reduction::kMul: return reduce_direct<Op<Reduction::kMul>>;
    case Reduction::kMin: return reduce_direct<Op<Reduction::kMin>>;
    case Reduction::kMax: return reduce_direct<Op<Reduction::kMax>>;
    case Reduction::kNone: break;
  }
  return nullptr;
}

ReduceRows pick_copy(int64_t row_bytes) {
  switch (row_bytes) {
    case 1: return copy_elements<uint8_t>;
    case 2: return copy_elements<uint16_t>;
    case 4: return copy_elements<uint32_t>;
    case 8: return copy_elements<uint64_t>;
    case 16: return copy_elements<uint64_t[2]>;
    default: return copy_rows;
  }
}

ReduceRows target_reducer(DType type, Reduction reduction, int64_t row_bytes) {
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
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kOpaque: break;
  }
  return reduce_by_definition;
}

ReduceDirect target_direct_reducer(DType type, Reduction reduction, int64_t row_bytes) {
  if (row_bytes != type.bytes()) {
    return nullptr;
  }
  switch (type.kind()) {
    case Kind::kInt32: return pick_direct<OnInt32>(reduction);
    case Kind::kInt64: return pick_direct<OnInt64>(reduction);
    case Kind::kUInt32: return pick_direct<OnUInt32>(reduction);
    case Kind::kUInt64: return pick_direct<OnUInt64>(reduction);
    case Kind::kFloat32: return pick_direct<OnFloat>(reduction);
    case Kind::kFloat64: return pick_direct<OnDouble>(reduction);
    case Kind::kBool:
    case Kind::kInt8:
    case Kind::kInt16:
    case Kind::kUInt8:
    case Kind::kUInt16:
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kFloat16:
    case Kind::kBFloat16:
    case Kind::kComplex64:
    case Kind::kComplex128:
    case Kind::kOpaque: break;
  }
  return nullptr;
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_reducer);
HWY_EXPORT(target_direct_reducer);

ReduceRows reducer_for(DType type, Reduction reduction, int64_t row_bytes) {
  return HWY_DYNAMIC_DISPATCH(target_reducer)(type, reduction, row_bytes);
}

ReduceDirect direct_reducer_for(DType type, Reduction reduction, int64_t row_bytes) {
  return HWY_DYNAMIC_DISPATCH(target_direct_reducer)(type, reduction, row_bytes);
}

}  // namespace sheaf::cpu
#endif

// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h).
#include "backends/cpu/scatter/reduce.h"

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/scatter/reduce.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/scatter/reduce-inl.h"
#include "plan/reductions.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

template <class Op>
ReduceRows pick(int64_t row_bytes) {
  const bool one = row_bytes == static_cast<int64_t>(sizeof(typename Op::Stored));
  return one ? reduce_elements<Op> : reduce_rows<Op>;
}

// pick(the reduction as a type), or `otherwise` where two elements are not combined. Means are
// added up first.
template <class Result, class Pick>
Result with_reduction(Reduction reduction, Result otherwise, Pick pick) {
  switch (reduction) {
#define SHEAF_CASE(name) \
  case Reduction::k##name: return pick(std::integral_constant<Reduction, Reduction::k##name>());
    SHEAF_COMBINING_REDUCTIONS(SHEAF_CASE)
#undef SHEAF_CASE
    case Reduction::kMean: return with_reduction(Reduction::kAdd, otherwise, pick);
    case Reduction::kNone: break;
  }
  return otherwise;
}

template <template <Reduction> class Op>
ReduceRows pick_reduction(Reduction reduction, int64_t row_bytes) {
  return with_reduction<ReduceRows>(reduction, reduce_by_definition, [=](auto kind) {
    return pick<Op<decltype(kind)::value>>(row_bytes);
  });
}

// The same for integers: sums and products have the same bits with and without a sign.
template <class Signed>
ReduceRows pick_integer(Reduction reduction, int64_t row_bytes, bool is_signed) {
  return with_reduction<ReduceRows>(reduction, reduce_by_definition, [=](auto kind) {
    constexpr Reduction kKind = decltype(kind)::value;
    using Unsigned = std::make_unsigned_t<Signed>;
    if constexpr (kKind != Reduction::kAdd && kKind != Reduction::kSub &&
                  kKind != Reduction::kMul) {
      if (is_signed) {
        return pick<Plain<kKind, Signed>>(row_bytes);
      }
    }
    return pick<Plain<kKind, Unsigned>>(row_bytes);
  });
}

template <class T>
struct On {
  template <Reduction kReduction>
  using Op = Plain<kReduction, T>;
};
template <Reduction kReduction>
using OnFloat16 = Small<kReduction, Float16>;
template <Reduction kReduction>
using OnBFloat16 = Small<kReduction, BFloat16>;

// Complex numbers are added and subtracted part by part: they are rows of their parts. Their
// products are not: g++ 12 fuses them even where it is told not to.
template <class Part>
ReduceRows pick_complex(Reduction reduction) {
  return with_reduction<ReduceRows>(reduction, reduce_by_definition, [](auto kind) -> ReduceRows {
    constexpr Reduction kKind = decltype(kind)::value;
    if constexpr (kKind == Reduction::kAdd || kKind == Reduction::kSub) {
      return reduce_rows<Plain<kKind, Part>>;
    } else {
      return reduce_by_definition;
    }
  });
}

// Elements of 4 and 8 bytes, straight from indices.
template <template <Reduction> class Op>
ReduceDirect pick_direct(Reduction reduction) {
  return with_reduction<ReduceDirect>(reduction, nullptr, [](auto kind) -> ReduceDirect {
    return reduce_direct<Op<decltype(kind)::value>>;
  });
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
    case Kind::kFloat32: return pick_reduction<On<float>::Op>(reduction, row_bytes);
    case Kind::kFloat64: return pick_reduction<On<double>::Op>(reduction, row_bytes);
    case Kind::kComplex64: return pick_complex<float>(reduction);
    case Kind::kComplex128: return pick_complex<double>(reduction);
    case Kind::kFloat8E4M3:
    case Kind::kFloat8E5M2:
    case Kind::kInt4:
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2:
    case Kind::kOpaque: break;
  }
  return reduce_by_definition;
}

ReduceDirect target_direct_reducer(DType type, Reduction reduction, int64_t row_bytes) {
  if (row_bytes != type.bytes()) {
    return nullptr;
  }
  switch (type.kind()) {
    case Kind::kInt32: return pick_direct<On<int32_t>::Op>(reduction);
    case Kind::kInt64: return pick_direct<On<int64_t>::Op>(reduction);
    case Kind::kUInt32: return pick_direct<On<uint32_t>::Op>(reduction);
    case Kind::kUInt64: return pick_direct<On<uint64_t>::Op>(reduction);
    case Kind::kFloat32: return pick_direct<On<float>::Op>(reduction);
    case Kind::kFloat64: return pick_direct<On<double>::Op>(reduction);
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
    case Kind::kInt4:
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2:
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

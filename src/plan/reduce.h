// SPDX-License-Identifier: MIT
//
// The reduction of two elements: the one definition (sheaf/reduction.h says what it has to be).
// Backends that write it differently for speed are held against this by the tests.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sheaf/dtype.h"
#include "sheaf/reduction.h"
#include "support/float_bits.h"

namespace sheaf {

struct Truth {  // a bool in memory: any byte but 0 is true
  uint8_t byte;
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

// The format of a float that C++ has no arithmetic for.
template <class T>
struct SmallFloat : std::false_type {};
template <>
struct SmallFloat<float16> : std::true_type {
  static constexpr FloatFormat kFormat = kFormatF16;
};
template <>
struct SmallFloat<bfloat16> : std::true_type {
  static constexpr FloatFormat kFormat = kFormatBF16;
};
template <>
struct SmallFloat<float8_e4m3> : std::true_type {
  static constexpr FloatFormat kFormat = kFormatF8E4M3;
};
template <>
struct SmallFloat<float8_e5m2> : std::true_type {
  static constexpr FloatFormat kFormat = kFormatF8E5M2;
};

// Which NaN an operation makes depends on the processor and on the order of its operands: there is
// one here.
template <class Float>
constexpr Float one_nan(Float value) {
  return value != value ? std::numeric_limits<Float>::quiet_NaN() : value;
}

// Whether a reduction is an operation of the processor.
constexpr bool computes(Reduction reduction) {
  return reduction != Reduction::kMin && reduction != Reduction::kMax;
}

// Such an operation, with any NaN. A NaN stays one, so it may be made the one after several of
// them.
template <Reduction kReduction, class Float>
constexpr Float computed(Float cell, Float update) {
  if constexpr (kReduction == Reduction::kSub) {
    return cell - update;
  } else if constexpr (kReduction == Reduction::kMul) {
    return cell * update;
  } else {
    return cell + update;
  }
}

template <Reduction kReduction, class Float>
constexpr Float reduced_float(Float cell, Float update) {
  if constexpr (computes(kReduction)) {
    return one_nan(computed<kReduction>(cell, update));
  } else {  // of two zeros, and of equals, the first stays
    const bool better = kReduction == Reduction::kMin ? update < cell : update > cell;
    const Float best = better ? update : cell;
    return cell != cell || update != update ? std::numeric_limits<Float>::quiet_NaN() : best;
  }
}

// In unsigned arithmetic, which wraps; never narrower than int, into which C++ would promote it.
template <Reduction kReduction, class Int>
constexpr Int reduced_integer(Int cell, Int update) {
  using Wide = std::conditional_t<sizeof(Int) <= 4, uint32_t, uint64_t>;
  using Bits = std::make_unsigned_t<Int>;
  const Wide a{static_cast<Bits>(cell)};
  const Wide b{static_cast<Bits>(update)};
  if constexpr (kReduction == Reduction::kAdd || kReduction == Reduction::kMean) {
    return static_cast<Int>(a + b);
  } else if constexpr (kReduction == Reduction::kSub) {
    return static_cast<Int>(a - b);
  } else if constexpr (kReduction == Reduction::kMul) {
    return static_cast<Int>(a * b);
  } else if constexpr (kReduction == Reduction::kMin) {
    return update < cell ? update : cell;
  } else {
    return update > cell ? update : cell;
  }
}

template <Reduction kReduction>
constexpr Truth reduced_truth(Truth cell, Truth update) {
  const bool a = cell.byte != 0;
  const bool b = update.byte != 0;
  if constexpr (kReduction == Reduction::kAdd || kReduction == Reduction::kMax) {
    return {static_cast<uint8_t>(a || b)};
  } else if constexpr (kReduction == Reduction::kSub) {
    return {static_cast<uint8_t>(a != b)};
  } else {
    return {static_cast<uint8_t>(a && b)};
  }
}

// Part by part, as the textbook has it: no part depends on how a compiler treats infinities.
template <Reduction kReduction, class Float>
constexpr std::complex<Float> reduced_complex(std::complex<Float> cell,
                                              std::complex<Float> update) {
  if constexpr (kReduction == Reduction::kMul) {
    return {one_nan(cell.real() * update.real() - cell.imag() * update.imag()),
            one_nan(cell.real() * update.imag() + cell.imag() * update.real())};
  } else {
    return {reduced_float<kReduction>(cell.real(), update.real()),
            reduced_float<kReduction>(cell.imag(), update.imag())};
  }
}

template <Reduction kReduction, class T>
constexpr T reduced(T cell, T update) {
  if constexpr (std::is_same_v<T, Truth>) {
    return reduced_truth<kReduction>(cell, update);
  } else if constexpr (is_complex_v<T>) {
    return reduced_complex<kReduction>(cell, update);
  } else if constexpr (SmallFloat<T>::value) {
    // Exact in double, or so near that rounding once more makes no difference.
    constexpr FloatFormat kFormat = SmallFloat<T>::kFormat;
    const double sum = reduced_float<kReduction>(from_float_bits(kFormat, cell.bits),
                                                 from_float_bits(kFormat, update.bits));
    const auto bits = static_cast<decltype(T::bits)>(to_float_bits(kFormat, sum));
    // Below the smallest number of a format without infinities is a NaN with a sign.
    return {!kFormat.ieee && bits == 0xFF ? static_cast<decltype(T::bits)>(0x7F) : bits};
  } else if constexpr (std::is_floating_point_v<T>) {
    return reduced_float<kReduction>(cell, update);
  } else {
    return reduced_integer<kReduction>(cell, update);
  }
}

// A float narrower than f32 as f32, exactly; and back, rounded to nearest, ties to even. There is
// one NaN of each type.
template <class T>
constexpr float widened(T value) {
  if constexpr (std::is_same_v<T, bfloat16>) {  // the upper half of an f32
    return bit_cast<float>(uint32_t{value.bits} << 16);
  }
  return static_cast<float>(from_float_bits(SmallFloat<T>::kFormat, value.bits));
}
template <class T>
constexpr T narrowed(float value) {
  if constexpr (std::is_same_v<T, bfloat16>) {  // to nearest, ties to even; carries reach infinity
    const auto wide = bit_cast<uint32_t>(value);
    const uint32_t rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16;
    return {static_cast<uint16_t>(value != value ? 0x7FC0 : rounded)};
  }
  constexpr FloatFormat kFormat = SmallFloat<T>::kFormat;
  const uint16_t bits = to_float_bits(kFormat, one_nan(double{value}));
  const bool beyond = !kFormat.ieee && bits == 0xFF;  // a NaN with a sign
  return {static_cast<decltype(T::bits)>(beyond ? 0x7F : bits)};
}

// Calls f with a value of the C++ type of a float type narrower than f32.
template <class F>
void with_small_float(DType type, F f) {
  if (type == f16) {
    f(float16{});
  } else if (type == bf16) {
    f(bfloat16{});
  } else if (type == f8e4m3) {
    f(float8_e4m3{});
  } else {
    f(float8_e5m2{});
  }
}

constexpr int64_t floor_quotient(int64_t sum, int64_t count) {
  const int64_t quotient = sum / count;
  return quotient - (sum % count < 0 ? 1 : 0);
}

// A sum over the number of summands. Integers are rounded down.
template <class T>
constexpr T mean_of(T sum, int64_t count) {
  const auto divisor = static_cast<double>(count);
  if constexpr (std::is_same_v<T, Truth>) {
    return sum;  // validation lets no mean of bools pass
  } else if constexpr (is_complex_v<T>) {
    using Part = typename T::value_type;
    return {one_nan(static_cast<Part>(sum.real() / divisor)),
            one_nan(static_cast<Part>(sum.imag() / divisor))};
  } else if constexpr (SmallFloat<T>::value) {
    constexpr FloatFormat kFormat = SmallFloat<T>::kFormat;
    const double mean = one_nan(from_float_bits(kFormat, sum.bits) / divisor);
    return {static_cast<decltype(T::bits)>(to_float_bits(kFormat, mean))};
  } else if constexpr (std::is_floating_point_v<T>) {
    return one_nan(static_cast<T>(sum / divisor));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return sum / static_cast<uint64_t>(count);
  } else {
    return static_cast<T>(floor_quotient(int64_t{sum}, count));
  }
}

// Calls f with a value of the C++ type of an element type that has arithmetic.
template <class F>
auto with_element_type(DType type, F f) {
  switch (type.kind()) {
    case Kind::kBool: return f(Truth{});
    case Kind::kInt8: return f(int8_t{});
    case Kind::kInt16: return f(int16_t{});
    case Kind::kInt32: return f(int32_t{});
    case Kind::kInt64: return f(int64_t{});
    case Kind::kUInt8: return f(uint8_t{});
    case Kind::kUInt16: return f(uint16_t{});
    case Kind::kUInt32: return f(uint32_t{});
    case Kind::kUInt64: return f(uint64_t{});
    case Kind::kFloat8E4M3: return f(float8_e4m3{});
    case Kind::kFloat8E5M2: return f(float8_e5m2{});
    case Kind::kFloat16: return f(float16{});
    case Kind::kBFloat16: return f(bfloat16{});
    case Kind::kFloat32: return f(float{});
    case Kind::kComplex64: return f(std::complex<float>{});
    case Kind::kComplex128: return f(std::complex<double>{});
    case Kind::kFloat64:
    case Kind::kInt4:  // validation lets nothing pass that is only ever copied
    case Kind::kUInt4:
    case Kind::kInt2:
    case Kind::kUInt2:
    case Kind::kOpaque: break;
  }
  return f(double{});
}

// Joins a row of updates to a row of cells; `bytes` are whole elements.
using ReduceRow = void (*)(std::byte* cells, const std::byte* updates, int64_t bytes);

// kMean adds up. Null where the type does not know the reduction; kNone copies.
ReduceRow reduce_row(DType type, Reduction reduction);

// What a reduction without the old value starts from: reducing an update into it gives the update
// (its negative for kSub; complex products may differ in infinite parts and signs of zero).
void neutral_element(DType type, Reduction reduction, std::byte* element);

// Sums, `step` bytes apart, into means. Integers are rounded down.
void divide_elements(DType type, std::byte* sums, int64_t step, int64_t elements, int64_t count);

}  // namespace sheaf

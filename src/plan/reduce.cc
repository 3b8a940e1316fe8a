// SPDX-License-Identifier: MIT
#include "plan/reduce.h"

#include <cstring>

#include "plan/scalar.h"

namespace sheaf {
namespace {

template <class T>
T load(const std::byte* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

template <class T>
void store(T value, std::byte* memory) {
  std::memcpy(memory, &value, sizeof value);
}

template <Reduction kReduction, class T>
void row(std::byte* cells, const std::byte* updates, int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(sizeof(T));
  for (int64_t at = 0; at < bytes; at += kStep) {
    store(reduced<kReduction>(load<T>(cells + at), load<T>(updates + at)), cells + at);
  }
}

void copy_row(std::byte* cells, const std::byte* updates, int64_t bytes) {
  std::memcpy(cells, updates, static_cast<size_t>(bytes));
}

template <class T>
ReduceRow row_of(Reduction reduction) {
  constexpr bool kOrdered = !is_complex_v<T>;
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return row<Reduction::kAdd, T>;
    case Reduction::kSub: return row<Reduction::kSub, T>;
    case Reduction::kMul: return row<Reduction::kMul, T>;
    case Reduction::kMin:
      if constexpr (kOrdered) {
        return row<Reduction::kMin, T>;
      }
      return nullptr;
    case Reduction::kMax:
      if constexpr (kOrdered) {
        return row<Reduction::kMax, T>;
      }
      return nullptr;
    case Reduction::kNone: break;
  }
  return copy_row;
}

// The largest or smallest value there is.
template <class T>
T extreme(bool largest) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(largest)};
  } else if constexpr (SmallFloat<T>::value) {
    constexpr FloatFormat kFormat = SmallFloat<T>::kFormat;
    const double bound = kFormat.ieee ? std::numeric_limits<double>::infinity() : 448.0;
    return {static_cast<decltype(T::bits)>(to_float_bits(kFormat, largest ? bound : -bound))};
  } else if constexpr (std::is_floating_point_v<T>) {
    return largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  } else if constexpr (std::is_integral_v<T>) {
    return largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    return {};
  }
}

// mean_of() in half the time. Its quotient of doubles has more than twice the digits of a float, so
// rounding it a second time changes nothing.
void divide_floats(std::byte* sums, int64_t elements, float count) {
  for (int64_t i = 0; i < elements; ++i) {
    std::byte* const at = sums + i * static_cast<int64_t>(sizeof(float));
    store(one_nan(load<float>(at) / count), at);
  }
}

}  // namespace

ReduceRow reduce_row(DType type, Reduction reduction) {
  return with_element_type(type, [&](auto zero) { return row_of<decltype(zero)>(reduction); });
}

void neutral_element(DType type, Reduction reduction, std::byte* element) {
  const bool ordered = reduction == Reduction::kMin || reduction == Reduction::kMax;
  if (ordered) {
    with_element_type(type, [&](auto zero) {
      store(extreme<decltype(zero)>(reduction == Reduction::kMin), element);
    });
    return;
  }
  // Minus zero, for adding +0 would turn an update of -0 into +0. Integers have but one zero.
  const bool adds = reduction == Reduction::kAdd || reduction == Reduction::kMean;
  const bool integral = type.is_integer() || type == boolean;
  const Scalar zero = adds && !integral ? Scalar(std::complex<double>(-0.0, -0.0)) : Scalar(0);
  encode(reduction == Reduction::kMul ? Scalar(1) : zero, type, element);
}

void divide_elements(DType type, std::byte* sums, int64_t step, int64_t elements, int64_t count) {
  constexpr int64_t kExactInFloat = 1 << std::numeric_limits<float>::digits;
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    const auto divide = [&](int64_t apart) {
      for (int64_t i = 0; i < elements; ++i) {
        std::byte* const at = sums + i * apart;
        store(mean_of(load<T>(at), count), at);
      }
    };
    if (step != sizeof(T)) {
      divide(step);
    } else if (std::is_same_v<T, float> && count <= kExactInFloat) {
      divide_floats(sums, elements, static_cast<float>(count));
    } else {
      divide(sizeof(T));
    }
  });
}

}  // namespace sheaf

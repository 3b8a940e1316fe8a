// SPDX-License-Identifier: MIT
#include "helpers/scatter_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "helpers/small_float.h"
#include "plan/reductions.h"

namespace oracle {
namespace {

using sheaf::DType;
using sheaf::Kind;
using sheaf::Reduction;
using Wide = __int128;

template <class T>
T get(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
void put(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

bool is_small_float(DType type) {
  return type == sheaf::f8e4m3 || type == sheaf::f8e5m2 || type == sheaf::f16 ||
         type == sheaf::bf16;
}

// ---- Integers, as whole numbers that are cut to their type's bits when they are written.

Wide get_integer(DType type, const std::byte* element) {
  Wide value = 0;
  for (int64_t byte = type.bytes(); byte-- > 0;) {
    value = value * 256 + static_cast<int>(element[byte]);
  }
  const Wide range = Wide{1} << (8 * type.bytes());
  return type.is_signed_integer() && value >= range / 2 ? value - range : value;
}

void put_integer(DType type, Wide value, std::byte* element) {
  auto rest = static_cast<unsigned __int128>(value);
  for (int64_t byte = 0; byte < type.bytes(); ++byte) {
    element[byte] = static_cast<std::byte>(rest % 256);
    rest /= 256;
  }
}

Wide join_integers(Reduction reduction, Wide a, Wide b) {
  switch (reduction) {
    case Reduction::kSub: return a - b;
    case Reduction::kMul:  // the low bits do not depend on the sign
      return static_cast<Wide>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
    case Reduction::kMin: return std::min(a, b);
    case Reduction::kMax: return std::max(a, b);
    default: return a + b;
  }
}

// ---- Floats: of the two, or of all, one that is not a number makes the result the one NaN.

template <class F>
F join_floats(Reduction reduction, F a, F b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::numeric_limits<F>::quiet_NaN();
  }
  F result = a;
  switch (reduction) {
    case Reduction::kSub: result = a - b; break;
    case Reduction::kMul: result = a * b; break;
    case Reduction::kMin: result = b < a ? b : a; break;
    case Reduction::kMax: result = a < b ? b : a; break;
    default: result = a + b;
  }
  return std::isnan(result) ? std::numeric_limits<F>::quiet_NaN() : result;
}

template <class F>
void join_float_bytes(Reduction reduction, std::byte* cell, const std::byte* update) {
  put(cell, join_floats(reduction, get<F>(cell), get<F>(update)));
}

// A product rounded to its type. Through memory that the compiler may not look past: where the
// machine has fused multiply-adds, g++ would otherwise round the product and the sum only once.
template <class F>
F product(F a, F b) {
  volatile F rounded = a * b;
  return rounded;
}

template <class F>
void join_complex(Reduction reduction, std::byte* cell, const std::byte* update) {
  const F a = get<F>(cell), b = get<F>(cell + sizeof(F));
  const F c = get<F>(update), d = get<F>(update + sizeof(F));
  if (reduction != Reduction::kMul) {
    put(cell, join_floats(reduction, a, c));
    put(cell + sizeof(F), join_floats(reduction, b, d));
    return;
  }
  const auto plain = [](F value) {
    return std::isnan(value) ? std::numeric_limits<F>::quiet_NaN() : value;
  };
  put(cell, plain(product(a, c) - product(b, d)));
  put(cell + sizeof(F), plain(product(a, d) + product(b, c)));
}

uint32_t get_small(DType type, const std::byte* element) {
  return static_cast<uint32_t>(type.bytes() == 1 ? get<uint8_t>(element) : get<uint16_t>(element));
}

void put_small(DType type, uint32_t bits, std::byte* element) {
  type.bytes() == 1 ? put(element, static_cast<uint8_t>(bits))
                    : put(element, static_cast<uint16_t>(bits));
}

// ---- Booleans.

bool join_booleans(Reduction reduction, bool a, bool b) {
  switch (reduction) {
    case Reduction::kAdd:
    case Reduction::kMax: return a || b;
    case Reduction::kSub: return a != b;
    default: return a && b;
  }
}

template <class F>
void divide_float(std::byte* cell, int64_t count) {
  const F value = get<F>(cell);
  put(cell, std::isnan(value) ? std::numeric_limits<F>::quiet_NaN()
                              : static_cast<F>(value / static_cast<F>(count)));
}

}  // namespace

// The number -0, 0, 1, or the largest or smallest of the type.
void put_neutral(DType type, Reduction reduction, std::byte* cell) {
  const bool low = reduction == Reduction::kMax, high = reduction == Reduction::kMin;
  const bool one = reduction == Reduction::kMul;
  const double infinity = std::numeric_limits<double>::infinity();
  const bool sums = reduction == Reduction::kAdd || reduction == Reduction::kMean;
  const double number = high ? infinity : low ? -infinity : one ? 1.0 : sums ? -0.0 : 0.0;
  if (type == sheaf::boolean) {
    put(cell, static_cast<uint8_t>(high || one));
  } else if (type.is_integer()) {
    const int64_t bits = 8 * type.bytes() - (type.is_signed_integer() ? 1 : 0);
    const Wide most = (Wide{1} << bits) - 1;
    const Wide least = type.is_signed_integer() ? -most - 1 : 0;
    put_integer(type, high ? most : low ? least : one ? 1 : 0, cell);
  } else if (is_small_float(type)) {
    const SmallFloat& format = SmallFloat::of(type);
    const uint32_t sign = uint32_t{1} << (8 * type.bytes() - 1);
    put_small(type,
              high  ? format.highest()
              : low ? sign | format.highest()
                    : format.nearest(number),
              cell);
  } else if (type == sheaf::f32) {
    put(cell, static_cast<float>(number));
  } else if (type == sheaf::f64) {
    put(cell, number);
  } else if (type == sheaf::c64) {
    put(cell, static_cast<float>(number));
    put(cell + 4, one ? 0.0F : static_cast<float>(number));
  } else {
    put(cell, number);
    put(cell + 8, one ? 0.0 : number);
  }
}

void divide(DType type, std::byte* cell, int64_t count) {
  if (type.is_integer()) {
    const Wide sum = get_integer(type, cell);
    Wide floor = sum / count;
    while (floor * count > sum) {
      --floor;
    }
    put_integer(type, floor, cell);
  } else if (is_small_float(type)) {
    const SmallFloat& format = SmallFloat::of(type);
    put_small(type, format.nearest(format.value(get_small(type, cell)) / count), cell);
  } else if (type == sheaf::f32 || type == sheaf::c64) {
    divide_float<float>(cell, count);
    if (type == sheaf::c64) {
      divide_float<float>(cell + 4, count);
    }
  } else {
    divide_float<double>(cell, count);
    if (type == sheaf::c128) {
      divide_float<double>(cell + 8, count);
    }
  }
}

const std::vector<Reduction> kReductions = [] {
  std::vector<Reduction> all;
  for (const sheaf::ReductionRow& row : sheaf::kReductions) {
    all.push_back(row.value);
  }
  return all;
}();

std::string Joining::str() const {
  return std::string(to_string(reduction)) + (include_self ? "" : ", without what was there") +
         (onto_zeros ? ", onto zeros" : "");
}

bool joins(DType type, Reduction reduction) {
  const bool complex = type == sheaf::c64 || type == sheaf::c128;
  if (type.kind() == Kind::kOpaque || type.is_sub_byte()) {
    return reduction == Reduction::kNone;
  }
  switch (reduction) {
    case Reduction::kNone: return true;
    case Reduction::kMin:
    case Reduction::kMax: return !complex;
    case Reduction::kMean: return type != sheaf::boolean;
    default: return true;
  }
}

void join(DType type, Reduction reduction, std::byte* cell, const std::byte* update) {
  if (reduction == Reduction::kNone) {
    std::memcpy(cell, update, static_cast<size_t>(type.bytes()));
  } else if (type == sheaf::boolean) {
    put(cell, static_cast<uint8_t>(
                  join_booleans(reduction, get<uint8_t>(cell) != 0, get<uint8_t>(update) != 0)));
  } else if (type.is_integer()) {
    const Wide joined =
        join_integers(reduction, get_integer(type, cell), get_integer(type, update));
    put_integer(type, joined, cell);
  } else if (is_small_float(type)) {
    const SmallFloat& format = SmallFloat::of(type);
    const long double joined = join_floats(reduction, format.value(get_small(type, cell)),
                                           format.value(get_small(type, update)));
    put_small(type, format.nearest(joined), cell);
  } else if (type == sheaf::f32) {
    join_float_bytes<float>(reduction, cell, update);
  } else if (type == sheaf::f64) {
    join_float_bytes<double>(reduction, cell, update);
  } else if (type == sheaf::c64) {
    join_complex<float>(reduction, cell, update);
  } else if (type == sheaf::c128) {
    join_complex<double>(reduction, cell, update);
  } else {
    throw std::logic_error("no arithmetic for this type");
  }
}

Bytes scattered(DType type, const Joining& joining, Bytes data, const Bytes& updates,
                const std::vector<int64_t>& target) {
  const auto bytes = static_cast<size_t>(type.bytes());
  if (joining.onto_zeros) {
    std::fill(data.begin(), data.end(), std::byte{0});
  }
  std::vector<int64_t> counts(data.size() / bytes, 0);
  const bool fresh = !joining.include_self && joining.reduction != Reduction::kNone;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] < 0) {
      continue;
    }
    std::byte* cell = data.data() + static_cast<size_t>(target[i]) * bytes;
    if (counts[static_cast<size_t>(target[i])]++ == 0 && fresh) {
      put_neutral(type, joining.reduction, cell);
    }
    join(type, joining.reduction, cell, updates.data() + i * bytes);
  }
  if (joining.reduction == Reduction::kMean) {
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) {
        divide(type, data.data() + i * bytes, counts[i] + (joining.include_self ? 1 : 0));
      }
    }
  }
  return data;
}

}  // namespace oracle

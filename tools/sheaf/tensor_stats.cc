// SPDX-License-Identifier: MIT
#include "tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/float_bits.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr int64_t kPiece = int64_t{4} << 20;

template <class T>
T load_number(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

struct Running {
  TensorStats stats;
  double sum = 0, lost = 0;  // Kahan's: a mean of a billion floats has all its digits

  void add(double value) {
    ++stats.count;
    if (std::isnan(value)) {
      ++stats.nans;
      return;
    }
    const bool first = stats.count - stats.nans == 1;
    stats.min = first ? value : std::min(stats.min, value);
    stats.max = first ? value : std::max(stats.max, value);
    const double next = value - lost;
    const double total = sum + next;
    lost = std::isfinite(total) ? (total - sum) - next : 0;
    sum = total;
  }
  TensorStats done() {
    const int64_t numbers = stats.count - stats.nans;
    stats.mean = numbers > 0 ? sum / static_cast<double>(numbers) : 0;
    return stats;
  }
};

}  // namespace

double element_value(DType type, const std::byte* element) {
  switch (type.kind()) {
    case Kind::kBool:
    case Kind::kUInt8: return load_number<uint8_t>(element);
    case Kind::kInt8: return load_number<int8_t>(element);
    case Kind::kInt16: return load_number<int16_t>(element);
    case Kind::kInt32: return load_number<int32_t>(element);
    case Kind::kInt64: return static_cast<double>(load_number<int64_t>(element));
    case Kind::kUInt16: return load_number<uint16_t>(element);
    case Kind::kUInt32: return load_number<uint32_t>(element);
    case Kind::kUInt64: return static_cast<double>(load_number<uint64_t>(element));
    case Kind::kFloat8E4M3: return from_float_bits(kFormatF8E4M3, load_number<uint8_t>(element));
    case Kind::kFloat8E5M2: return from_float_bits(kFormatF8E5M2, load_number<uint8_t>(element));
    case Kind::kFloat16: return from_float_bits(kFormatF16, load_number<uint16_t>(element));
    case Kind::kBFloat16: return from_float_bits(kFormatBF16, load_number<uint16_t>(element));
    case Kind::kFloat32: return static_cast<double>(load_number<float>(element));
    case Kind::kFloat64: return load_number<double>(element);
    default: break;
  }
  throw Error(Refusal{.cause = {.reason = Reason::kType},
                      .who = "inspect",
                      .what = "no statistics",
                      .detail = cat("elements of type ", type.name(), " have no order"),
                      .next = "a tensor of numbers"});
}

TensorStats stats_of(const Table& table) {
  Running running;
  const DType type = table.spec().dtype;
  const auto add = [&](const std::byte* bytes, int64_t count) {
    for (int64_t at = 0; at < count; at += type.bytes()) {
      running.add(element_value(type, bytes + at));
    }
  };
  const int64_t bytes = table.info().bytes;
  if (table.info().storage != "plain") {  // from front to back only
    const Array all = table.load();
    add(static_cast<const std::byte*>(all.tensor().data), bytes);
    return running.done();
  }
  std::vector<std::byte> piece(static_cast<size_t>(kPiece / type.bytes() * type.bytes()));
  for (int64_t at = 0; at < bytes;) {
    const int64_t count = std::min(std::ssize(piece), bytes - at);
    table.read(at, piece.data(), count);
    add(piece.data(), count);
    at += count;
  }
  return running.done();
}

}  // namespace sheaf::cli

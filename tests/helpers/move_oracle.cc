// SPDX-License-Identifier: MIT
//
// The moves by plain loops: one element after the other, each found by its coordinates.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "helpers/move_call.h"
#include "moves/convert.h"

using sheaf::Dims;
using sheaf::DType;
using sheaf::PadMode;
using sheaf::TensorSpec;

namespace {

// A tensor whose elements are named by their coordinates.
template <class Byte>
struct Elements {
  Byte* data;
  const TensorSpec& spec;

  Byte* at(const Dims& place) const {
    int64_t offset = 0;
    for (int d = 0; d < spec.rank(); ++d) {
      offset += place[d] == 0 ? 0 : place[d] * spec.strides[d];
    }
    return data + offset * spec.dtype.bytes();
  }
};

int64_t integer_at(const Elements<const std::byte>& tensor, const Dims& place) {
  int64_t value = 0;
  sheaf::moves::convert_reference(tensor.spec.dtype, tensor.at(place), sheaf::i64,
                                  reinterpret_cast<std::byte*>(&value));
  // What does not fit into int64 is large, not negative.
  return tensor.spec.dtype == sheaf::u64 && value < 0 ? INT64_MAX : value;
}

double double_at(const Elements<const std::byte>& tensor, const Dims& place) {
  double value = 0;
  sheaf::moves::convert_reference(tensor.spec.dtype, tensor.at(place), sheaf::f64,
                                  reinterpret_cast<std::byte*>(&value));
  return value;
}

void put_integer(const Elements<std::byte>& tensor, const Dims& place, int64_t value) {
  sheaf::moves::convert_reference(sheaf::i64, reinterpret_cast<const std::byte*>(&value),
                                  tensor.spec.dtype, tensor.at(place));
}

// Calls body(place) for all coordinates in row-major order.
template <class Body>
void for_each_place(const Dims& sizes, Body body) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  Dims place(sizes.size(), 0);
  for (int d = 0; d >= 0;) {
    body(place);
    for (d = sizes.size() - 1; d >= 0 && ++place[d] == sizes[d]; --d) {
      place[d] = 0;
    }
  }
}

// Entry `at` of a dimension of `size` entries that goes on for ever; -1: the value.
int64_t padded_entry(PadMode mode, int64_t at, int64_t size) {
  while (at < 0 || at >= size) {
    switch (mode) {
      case PadMode::kConstant: return -1;
      case PadMode::kEdge: at = at < 0 ? 0 : size - 1; break;
      case PadMode::kReflect: at = size == 1 ? 0 : at < 0 ? -at : 2 * (size - 1) - at; break;
      case PadMode::kSymmetric: at = at < 0 ? -1 - at : 2 * size - 1 - at; break;
      case PadMode::kWrap: at += at < 0 ? size : -size; break;
    }
  }
  return at;
}

class MoveLoops {
 public:
  MoveLoops(const MoveCall& call, std::span<const void* const> inputs,
            std::span<void* const> outputs)
      : call_(call), along_(static_cast<int>(call.axis)) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      from_.push_back({static_cast<const std::byte*>(inputs[i]), call.inputs[i]});
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      to_.push_back({static_cast<std::byte*>(outputs[i]), call.outputs[i]});
    }
  }

  int64_t run() {
    switch (call_.kind) {
      case MoveKind::kJoin: parts(from_, to_[0], true); return 0;
      case MoveKind::kSplit: parts(to_, from_[0], false); return 0;
      case MoveKind::kNonzero: return nonzero();
      case MoveKind::kTopK: top_k(); return 0;
      default: break;
    }
    int64_t number = 0;
    for_each_place(to_[0].spec.sizes, [&](const Dims& place) { element(place, number++); });
    return 0;
  }

 private:
  void move(const Elements<const std::byte>& from, const Dims& read, const Elements<std::byte>& to,
            const Dims& written) const {
    std::memcpy(to.at(written), from.at(read), static_cast<size_t>(to.spec.dtype.bytes()));
  }

  // The element of the only output at `place`, which is number `number`.
  void element(const Dims& place, int64_t number) const {
    Dims read;
    switch (call_.kind) {
      case MoveKind::kCopy: {
        const int missing = place.size() - from_[0].spec.rank();
        for (int d = missing; d < place.size(); ++d) {
          read.push_back(from_[0].spec.sizes[d - missing] == 1 ? 0 : place[d]);
        }
        return move(from_[0], read, to_[0], place);
      }
      case MoveKind::kCast:
        return sheaf::moves::convert_reference(from_[0].spec.dtype, from_[0].at(place),
                                               to_[0].spec.dtype, to_[0].at(place));
      case MoveKind::kFill: return put_integer(to_[0], place, call_.value);
      case MoveKind::kSequence:
        return put_integer(to_[0], place, call_.value + number * call_.delta);
      case MoveKind::kTile:
        for (int d = 0; d < place.size(); ++d) {
          read.push_back(place[d] % from_[0].spec.sizes[d]);
        }
        return move(from_[0], read, to_[0], place);
      case MoveKind::kSlice:
        for (int d = 0; d < place.size(); ++d) {
          read.push_back(call_.at[d] + (place[d] == 0 ? 0 : place[d] * call_.steps[d]));
        }
        return move(from_[0], read, to_[0], place);
      case MoveKind::kPad: return padded(place);
      case MoveKind::kReverse: return reversed(place);
      case MoveKind::kOneHot: return one_hot(place);
      default: return;
    }
  }

  void padded(const Dims& place) const {
    Dims read;
    for (int d = 0; d < place.size(); ++d) {
      read.push_back(padded_entry(call_.mode, place[d] - call_.at[d], from_[0].spec.sizes[d]));
      if (read[d] < 0) {
        return put_integer(to_[0], place, call_.value);
      }
    }
    move(from_[0], read, to_[0], place);
  }

  void reversed(const Dims& place) const {
    Dims first = place, read = place;
    first[along_] = 0;
    const int64_t size = from_[0].spec.sizes[along_];
    const int64_t length = std::clamp<int64_t>(integer_at(from_[1], first), 0, size);
    read[along_] = place[along_] < length ? length - 1 - place[along_] : place[along_];
    move(from_[0], read, to_[0], place);
  }

  void one_hot(const Dims& place) const {
    Dims first = place;
    first[along_] = 0;
    const int64_t index = integer_at(from_[0], first), size = to_[0].spec.sizes[along_];
    const bool on = (index < 0 ? index + size : index) == place[along_];
    // The second of two elements: the last entry of the last dimension that has two.
    Dims value(from_[1].spec.rank(), 0);
    for (int d = value.size() - 1; on && d >= 0; --d) {
      if (from_[1].spec.sizes[d] > 1) {
        value[d] = 1;
        break;
      }
    }
    move(from_[1], value, to_[0], place);
  }

  template <class Parts, class Whole>
  void parts(const Parts& all, const Whole& whole, bool join) const {
    int64_t begin = 0;
    for (const auto& part : all) {
      for_each_place(part.spec.sizes, [&](const Dims& place) {
        Dims inside = place;
        inside[along_] += begin;
        const auto* read = join ? part.at(place) : whole.at(inside);
        const auto* written = join ? whole.at(inside) : part.at(place);
        std::memcpy(const_cast<std::byte*>(written), read,
                    static_cast<size_t>(whole.spec.dtype.bytes()));
      });
      begin += part.spec.sizes[along_];
    }
  }

  int64_t nonzero() const {
    int64_t row = 0;
    const int rank = to_[0].spec.rank();
    for_each_place(from_[0].spec.sizes, [&](const Dims& place) {
      if (double_at(from_[0], place) == 0) {
        return;
      }
      const auto columns = static_cast<int>(to_[0].spec.sizes[rank - 1]);
      for (int d = 0; d < columns; ++d) {
        Dims written(rank, 0);
        written[rank - 2] = row;
        written[rank - 1] = d;
        put_integer(to_[0], written, place[place.size() - columns + d]);
      }
      ++row;
    });
    return row;
  }

  void top_k() const {
    Dims others = to_[0].spec.sizes;
    const int64_t kept = others[along_], size = from_[0].spec.sizes[along_];
    others[along_] = kept == 0 ? 0 : 1;
    for_each_place(others, [&](const Dims& sequence) {
      std::vector<int64_t> order(static_cast<size_t>(size));
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](int64_t entry) {
        Dims place = sequence;
        place[along_] = entry;
        return double_at(from_[0], place);
      };
      const auto less = [](double a, double b) {
        return std::isnan(a) ? false : std::isnan(b) || a < b;
      };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return call_.largest ? less(value(b), value(a)) : less(value(a), value(b));
      });
      for (int64_t i = 0; i < kept; ++i) {
        Dims read = sequence, written = sequence;
        read[along_] = order[static_cast<size_t>(i)];
        written[along_] = i;
        move(from_[0], read, to_[0], written);
        put_integer(to_[1], written, read[along_]);
      }
    });
  }

  const MoveCall& call_;
  int along_;
  std::vector<Elements<const std::byte>> from_;
  std::vector<Elements<std::byte>> to_;
};

}  // namespace

int64_t move_by_loops(const MoveCall& call, std::span<const void* const> inputs,
                      std::span<void* const> outputs) {
  return MoveLoops(call, inputs, outputs).run();
}

void make_nans_alike(const MoveCall& call, std::span<void* const> outputs) {
  if (call.kind != MoveKind::kCast && call.kind != MoveKind::kTopK) {
    return;
  }
  const TensorSpec& spec = call.outputs[0];
  const Elements<std::byte> elements{static_cast<std::byte*>(outputs[0]), spec};
  for_each_place(spec.sizes, [&](const Dims& place) {
    const double value = double_at({elements.data, spec}, place);
    if (std::isnan(value)) {
      constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
      sheaf::moves::convert_reference(sheaf::f64, reinterpret_cast<const std::byte*>(&kNan),
                                      spec.dtype, elements.at(place));
    }
  });
}

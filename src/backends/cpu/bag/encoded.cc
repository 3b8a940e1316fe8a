// SPDX-License-Identifier: MIT
//
// Gathers of encoded tables: points of the nest are shared by threads, and the run of elements that
// belongs to a point is decoded in pieces that stay in the first-level cache.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/bag/bag.h"
#include "backends/cpu/bag/decode_run.h"
#include "backends/cpu/bag/pool_rows.h"
#include "execution/cancel.h"
#include "support/checked.h"

namespace sheaf::cpu {
namespace {

// A position in the nest, and where it has brought the tensors.
class Odometer {
 public:
  Odometer(const Nest& nest, int64_t point) : nest_(nest), position_(nest.loops.size(), 0) {
    for (int l = nest.loops.size() - 1; l >= 0; --l) {
      const Loop& loop = nest.loops[l];
      position_[l] = point % loop.extent;
      point /= loop.extent;
      move(loop, position_[l]);
    }
  }

  void step() {
    for (int l = nest_.loops.size() - 1; l >= 0; --l) {
      const Loop& loop = nest_.loops[l];
      move(loop, 1);
      if (++position_[l] < loop.extent) {
        return;
      }
      move(loop, -loop.extent);
      position_[l] = 0;
    }
  }

  int64_t data = 0, index = 0, output = 0;

 private:
  void move(const Loop& loop, int64_t by) {
    data += by * loop.data;
    index += by * loop.index;
    output += by * loop.output;
  }

  const Nest& nest_;
  Fixed<int64_t> position_;
};

constexpr int64_t kPiece = 2048;  // floats decoded at a time: 8 KiB

template <class Index>
class EncodedRange {
 public:
  EncodedRange(const EncodedNest& encoded, const EncodedBuffers& buffers, const Launch& launch)
      : encoded_(encoded),
        nest_(encoded.nest),
        buffers_(buffers),
        launch_(launch),
        cancel_(launch.cancel),
        decode_(decoder_for(encoded.rows.encoding)) {}

  bool run(int64_t begin, int64_t end) {
    Odometer at(nest_, begin);
    for (int64_t p = begin; p < end; ++p, at.step()) {
      if (cancel_.before_rows(1, nest_.row_bytes * 4)) {
        return true;
      }
      const int64_t first = first_element(at);
      if (first == kOutside && launch_.check_while_moving) {
        return false;
      }
      std::byte* const to = buffers_.output + at.output * encoded_.type.bytes();
      first == kOutside ? fill(to) : decode(first, to);
    }
    return true;
  }

 private:
  int64_t first_element(const Odometer& at) const {
    int64_t data = at.data;
    for (const Coordinate& c : nest_.coordinates) {
      const auto value = load_index<Index>(buffers_.indices, at.index + c.offset);
      const int64_t entry = resolve(value, c.extent, nest_.negative, nest_.out_of_range);
      if (entry == kOutside) {
        return kOutside;
      }
      data += entry * c.stride;
    }
    return data;
  }

  void fill(std::byte* to) const {
    const int64_t bytes = encoded_.type.bytes();
    for (int64_t i = 0; i < nest_.row_bytes; ++i) {
      std::memcpy(to + i * bytes, encoded_.fill_value, static_cast<size_t>(bytes));
    }
  }

  void decode(int64_t first, std::byte* to) {
    const int64_t bytes = encoded_.type.bytes();
    for (int64_t done = 0; done < nest_.row_bytes; done += kPiece) {
      const int64_t count = std::min(kPiece, nest_.row_bytes - done);
      std::byte* const piece = to + done * bytes;
      const bool in_place =
          encoded_.type == f32 && reinterpret_cast<uintptr_t>(piece) % alignof(float) == 0;
      float* const floats = in_place ? reinterpret_cast<float*>(piece) : floats_;
      decode_(encoded_.rows, buffers_.data, first + done, count, floats);
      if (in_place) {
        continue;
      }
      if (encoded_.type == f32) {
        std::memcpy(piece, floats, static_cast<size_t>(count * bytes));
      } else {
        narrow_floats(encoded_.type, floats, piece, count);
      }
    }
  }

  const EncodedNest& encoded_;
  const Nest& nest_;
  const EncodedBuffers& buffers_;
  const Launch& launch_;
  CancelPoint cancel_;
  DecodeRun decode_;
  float floats_[kPiece];
};

}  // namespace

const char* encoded_refusal(const EncodedNest& /*nest*/) { return nullptr; }

bool run_encoded(const EncodedNest& encoded, const EncodedBuffers& buffers, const Launch& launch) {
  int64_t points = 1;
  for (const Loop& loop : encoded.nest.loops) {
    points *= loop.extent;
  }
  const int64_t bytes = saturating_mul(points, saturating_mul(encoded.nest.row_bytes, 4));
  std::atomic<bool> good{true};
  parallel_ranges(points, worthwhile_threads(bytes, launch.threads),
                  [&](int64_t begin, int64_t end) {
                    const bool passed = with_index_type(encoded.nest.index_type, [&](auto zero) {
                      return EncodedRange<decltype(zero)>(encoded, buffers, launch).run(begin, end);
                    });
                    if (!passed) {
                      good = false;
                    }
                  });
  return good;
}

}  // namespace sheaf::cpu

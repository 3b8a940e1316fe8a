// SPDX-License-Identifier: MIT
//
// The oracle's gather of an encoded table: its loop nest, element by element.
#include <cstring>

#include "backends/reference/backend.h"
#include "plan/resolve.h"

namespace sheaf::reference {
namespace {

template <class Index>
struct EncodedWalk {
  const EncodedNest& encoded;
  const EncodedBuffers& buffers;
  CancelPoint& cancel;

  void loops(int loop, int64_t data, int64_t index, int64_t output) const {
    const Nest& nest = encoded.nest;
    if (loop == nest.loops.size()) {
      move_run(data, index, output);
      return;
    }
    const Loop& l = nest.loops[loop];
    for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, nest.row_bytes); ++p) {
      loops(loop + 1, data + p * l.data, index + p * l.index, output + p * l.output);
    }
  }

  void move_run(int64_t data, int64_t index, int64_t output) const {
    const Nest& nest = encoded.nest;
    bool outside = false;
    for (const Coordinate& c : nest.coordinates) {
      const auto value = load_index<Index>(buffers.indices, index + c.offset);
      const int64_t at = resolve(value, c.extent, nest.negative, nest.out_of_range);
      outside = outside || at == kOutside;
      data += outside ? 0 : at * c.stride;
    }
    for (int64_t i = 0; i < nest.row_bytes; ++i) {
      std::byte* const to = buffers.output + (output + i) * encoded.type.bytes();
      outside ? write(encoded.fill_value, to) : move_element(data + i, to);
    }
  }

  void write(const std::byte* element, std::byte* to) const {
    std::memcpy(to, element, static_cast<size_t>(encoded.type.bytes()));
  }

  void move_element(int64_t number, std::byte* to) const {
    const EncodedRows& rows = encoded.rows;
    const float value = with_encoding(rows.encoding, [&]<Encoding kEncoding>() {
      return decoded<kEncoding>(rows, buffers.data, number / rows.elements, number % rows.elements);
    });
    if (encoded.type == f32) {
      write(reinterpret_cast<const std::byte*>(&value), to);
      return;
    }
    with_small_float(encoded.type, [&](auto narrow) {
      const auto rounded = narrowed<decltype(narrow)>(value);
      write(reinterpret_cast<const std::byte*>(&rounded), to);
    });
  }
};

}  // namespace

bool gather_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  with_index_type(nest.nest.index_type, [&](auto zero) {
    EncodedWalk<decltype(zero)>{nest, buffers, cancel}.loops(0, 0, 0, 0);
  });
  return true;
}

}  // namespace sheaf::reference

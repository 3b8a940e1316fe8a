// SPDX-License-Identifier: MIT
//
// Rows from offsets. Up to 64 bytes, each row size has its own loop with moves of constant size, so
// that 12 or 20 bytes cost what 16 and 24 do; wider rows are copied by vectors. Memory that is not
// in cache is asked for before its turn, and outputs too large to stay in cache are written around
// it.
#if defined(SHEAF_CPU_MOVE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_MOVE_INL
#undef SHEAF_CPU_MOVE_INL
#else
#define SHEAF_CPU_MOVE_INL
#endif

#include <array>
#include <cstring>
#include <utility>

#include "backends/cpu/gather_instruction-inl.h"
#include "backends/cpu/routines.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kLine = 64;
inline constexpr int64_t kMaxFixedRow = 64;
// A page's worth of a long row is asked for; the hardware prefetcher sees the rest coming.
inline constexpr int64_t kAskedBytes = 4096;

// Into the second level: a line on its way there does not hold one of the few first-level buffers
// for as long (5.8 against 7.6 ns a random line where both were measured).
HWY_INLINE void ask_line(const void* at) { __builtin_prefetch(at, 0, 2); }

// Asks for what follows, a share at a time: in one go, the requests would find all buffers taken.
class AskAhead {
 public:
  HWY_INLINE AskAhead(const Ahead& ahead, int64_t shares)
      : next_(ahead.begin),
        end_(ahead.begin + ahead.bytes),
        share_((ahead.bytes / shares + kLine) & -kLine) {}
  HWY_INLINE void ask_share() {
    const std::byte* until = end_ - next_ > share_ ? next_ + share_ : end_;
    for (; next_ < until; next_ += kLine) {
      __builtin_prefetch(next_, 0, 3);
    }
  }

 private:
  const std::byte* next_;
  const std::byte* end_;
  int64_t share_;
};

// Calls move(begin, end) over all rows, in short runs if there is something to ask for meanwhile.
template <class MoveRun>
HWY_INLINE void in_runs(const RowMove& rows, MoveRun move) {
  if (rows.next_indices.bytes == 0 && rows.next_data.bytes == 0) {
    move(int64_t{0}, rows.count);
    return;
  }
  constexpr int64_t kRun = 64;
  const int64_t runs = (rows.count - 1) / kRun + 1;
  AskAhead indices(rows.next_indices, runs);
  AskAhead data(rows.next_data, runs);
  for (int64_t begin = 0; begin < rows.count; begin += kRun) {
    indices.ask_share();
    data.ask_share();
    move(begin, begin + kRun < rows.count ? begin + kRun : rows.count);
  }
}

template <int kRowBytes>
void move_fixed(const RowMove& rows) {
  const std::byte* HWY_RESTRICT data = rows.data;
  const int64_t* HWY_RESTRICT offsets = rows.offsets;
  std::byte* HWY_RESTRICT output = rows.output;
  const int64_t step = rows.output_step;
  const auto move_all = [=](int64_t i, int64_t end) HWY_ATTR {
    for (; i < end; ++i) {
      std::memcpy(output + i * step, data + offsets[i], kRowBytes);
    }
  };
  if (rows.prefetch_rows > 0) {
    const int64_t ahead = rows.prefetch_rows < rows.count ? rows.prefetch_rows : rows.count;
    for (int64_t i = 0; i < ahead; ++i) {
      ask_line(data + offsets[i]);
    }
    in_runs(rows, [&](int64_t begin, int64_t end) HWY_ATTR {
      const int64_t last_asking = end < rows.count - ahead ? end : rows.count - ahead;
      int64_t i = begin;
      for (; i < last_asking; ++i) {
        ask_line(data + offsets[i + ahead]);
        std::memcpy(output + i * step, data + offsets[i], kRowBytes);
      }
      move_all(i, end);
    });
    return;
  }
  in_runs(rows, [&](int64_t begin, int64_t end) HWY_ATTR {
    if constexpr (kRowBytes == 4 || kRowBytes == 8) {
      if (rows.hardware_gather) {
        begin += gather_by_instruction<kRowBytes>(rows, begin, end);
      }
    }
    move_all(begin, end);
  });
}

// Any row of more than 64 bytes: whole vectors, the last one overlapping the one before.
HWY_INLINE void copy_row(const uint8_t* HWY_RESTRICT from, uint8_t* HWY_RESTRICT to,
                         int64_t bytes) {
  const hn::CappedTag<uint8_t, 64> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + 4 * n <= bytes; at += 4 * n) {
    const auto a = hn::LoadU(d, from + at);
    const auto b = hn::LoadU(d, from + at + n);
    const auto c = hn::LoadU(d, from + at + 2 * n);
    const auto e = hn::LoadU(d, from + at + 3 * n);
    hn::StoreU(a, d, to + at);
    hn::StoreU(b, d, to + at + n);
    hn::StoreU(c, d, to + at + 2 * n);
    hn::StoreU(e, d, to + at + 3 * n);
  }
  for (; at + n <= bytes; at += n) {
    hn::StoreU(hn::LoadU(d, from + at), d, to + at);
  }
  if (at < bytes) {
    hn::StoreU(hn::LoadU(d, from + bytes - n), d, to + bytes - n);
  }
}

// The whole lines of `to` go out without being read first; the ends, shared with the rows before
// and after, in the ordinary way.
HWY_INLINE void stream_row(const uint8_t* HWY_RESTRICT from, uint8_t* HWY_RESTRICT to,
                           int64_t bytes) {
  const hn::CappedTag<uint8_t, 64> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const int64_t head = -reinterpret_cast<intptr_t>(to) & (kLine - 1);
  std::memcpy(to, from, static_cast<size_t>(head < bytes ? head : bytes));
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (int64_t part = at; part < at + kLine; part += n) {
      hn::Stream(hn::LoadU(d, from + part), d, to + part);
    }
  }
  if (at < bytes) {
    std::memcpy(to + at, from + at, static_cast<size_t>(bytes - at));
  }
}

template <bool kStream>
void move_wide(const RowMove& rows) {
  const auto* data = reinterpret_cast<const uint8_t*>(rows.data);
  auto* output = reinterpret_cast<uint8_t*>(rows.output);
  const int64_t bytes = rows.row_bytes;
  const int64_t asked = bytes < kAskedBytes ? bytes : kAskedBytes;
  const auto ask = [&](int64_t i) HWY_ATTR {
    const uint8_t* row = data + rows.offsets[i];
    for (int64_t at = 0; at < asked; at += kLine) {
      ask_line(row + at);
    }
    ask_line(row + asked - 1);  // a row that starts within a line ends in one more
  };
  const auto move = [&](int64_t i) HWY_ATTR {
    if constexpr (kStream) {
      stream_row(data + rows.offsets[i], output + i * rows.output_step, bytes);
    } else {
      copy_row(data + rows.offsets[i], output + i * rows.output_step, bytes);
    }
  };
  const int64_t ahead = rows.prefetch_rows < rows.count ? rows.prefetch_rows : rows.count;
  for (int64_t i = 0; i < ahead; ++i) {
    ask(i);
  }
  for (int64_t i = 0; i < rows.count; ++i) {
    if (i + ahead < rows.count && ahead > 0) {
      ask(i + ahead);
    }
    move(i);
  }
}

using MoveFunction = void (*)(const RowMove&);

template <int... kSizes>
constexpr std::array<MoveFunction, sizeof...(kSizes)> fixed_moves(
    std::integer_sequence<int, kSizes...>) {
  return {move_fixed<kSizes>...};
}

void move_rows(const RowMove& rows) {
  static constexpr auto kFixed =
      fixed_moves(std::make_integer_sequence<int, static_cast<int>(kMaxFixedRow) + 1>());
  if (rows.row_bytes <= kMaxFixedRow && !(rows.stream && rows.row_bytes == kLine)) {
    kFixed[static_cast<size_t>(rows.row_bytes)](rows);
  } else if (rows.stream) {
    move_wide<true>(rows);
  } else {
    move_wide<false>(rows);
  }
  if (rows.stream) {
    hwy::FlushStream();  // other threads see streamed lines only after this
  }
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

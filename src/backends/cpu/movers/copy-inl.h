// SPDX-License-Identifier: MIT
//
// Rows from offsets. Rows of up to 64 bytes are one move of a constant size, or two that overlap in
// the middle, so that 12 or 20 bytes cost what 16 and 32 do; wider rows are copied by vectors.
// Memory that is not in cache is prefetched, and outputs too large to stay in cache
// are written around it.
#if defined(SHEAF_CPU_COPY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_COPY_INL
#undef SHEAF_CPU_COPY_INL
#else
#define SHEAF_CPU_COPY_INL
#endif

#include <hwy/cache_control.h>

#include <cstring>

#include "backends/cpu/machine.h"
#include "backends/cpu/movers/routines.h"

// Streaming stores pay on x86 alone (Processor::streaming_stores).
#undef SHEAF_STREAMS_LINES
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
#define SHEAF_STREAMS_LINES 1
#else
#define SHEAF_STREAMS_LINES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kNarrowRow = 64;
// Into the second level: a line in flight to it does not hold one of the few first-level buffers
// for as long (5.8 against 7.6 ns per random line on x86), and many wide rows ahead fit.
template <int64_t kRowBytes = kLine>
HWY_INLINE void prefetch_far(const void* at) {
  prefetch_row<2, kRowBytes>(at);
}

// Prefetches what follows, a share at a time: all at once, the requests would find no free buffer.
class SharedPrefetch {
 public:
  HWY_INLINE SharedPrefetch(const Ahead& ahead, int64_t shares)
      : next_(ahead.begin),
        end_(ahead.begin + ahead.bytes),
        share_((ahead.bytes / shares + kLine) & -kLine) {}
  HWY_INLINE void prefetch_share() {
    const std::byte* until = end_ - next_ > share_ ? next_ + share_ : end_;
    for (; next_ < until; next_ += kLine) {
      prefetch_line(next_);
    }
  }

 private:
  const std::byte* next_;
  const std::byte* end_;
  int64_t share_;
};

// How many rows come before the first that begins a line of the output: streamed runs start there.
HWY_INLINE int64_t rows_to_line(const RowMove& rows) {
  const int64_t bytes = -reinterpret_cast<intptr_t>(rows.output) & (kLine - 1);
  return rows.stream && bytes % rows.row_bytes == 0 ? bytes / rows.row_bytes : 0;
}

// Calls move(begin, end) over all rows, in short runs if there is something to prefetch meanwhile.
template <class MoveRun>
HWY_INLINE void in_runs(const RowMove& rows, MoveRun move) {
  if (rows.next_indices.bytes == 0 && rows.next_data.bytes == 0 && !rows.stream) {
    move(int64_t{0}, rows.count);
    return;
  }
  constexpr int64_t kRun = kPrefetch.share_rows;
  const int64_t runs = (rows.count - 1) / kRun + 1;
  SharedPrefetch indices(rows.next_indices, runs);
  SharedPrefetch data(rows.next_data, runs);
  int64_t begin = 0;
  int64_t end = rows_to_line(rows);
  do {
    end = end < rows.count ? end : rows.count;
    indices.prefetch_share();
    data.prefetch_share();
    move(begin, end);
    begin = end;
    end += kRun;
  } while (begin < rows.count);
}

// A copy of constant size. On arm64, g++ 12 copies 16 and 32 bytes by pairs of general registers,
// for which a Neoverse V1 needs 1.4 times as long as for vectors if the rows are in cache.
template <int64_t kBytes>
HWY_INLINE void copy_bytes(std::byte* to, const std::byte* from) {
#if HWY_ARCH_ARM_A64
  if constexpr (kBytes >= 16 && kBytes < kLine) {
    using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = uint8_t;
    constexpr auto kVectors = size_t{kBytes / 16};
    Vector vectors[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      vectors[v] = reinterpret_cast<const Vector*>(from)[v];
    }
    for (size_t v = 0; v < kVectors; ++v) {
      reinterpret_cast<Vector*>(to)[v] = vectors[v];
    }
    constexpr int64_t kRest = kBytes % 16;
    std::memcpy(to + kBytes - kRest, from + kBytes - kRest, kRest);
    return;
  }
#endif
  std::memcpy(to, from, kBytes);
}

// Rows of kPart bytes; if kTwice, of more than kPart and up to 2 * kPart bytes.
template <int64_t kPart, bool kTwice>
void move_narrow(const RowMove& rows) {
  const std::byte* HWY_RESTRICT data = rows.data;
  const int64_t* HWY_RESTRICT offsets = rows.offsets;
  std::byte* HWY_RESTRICT output = rows.output;
  const int64_t step = rows.output_step;
  const int64_t second = kTwice ? rows.row_bytes - kPart : 0;
  const auto move = [=](int64_t i) HWY_ATTR {
    const std::byte* from = data + offsets[i];
    std::byte* to = output + i * step;
    copy_bytes<kPart>(to, from);
    if constexpr (kTwice) {
      copy_bytes<kPart>(to + second, from + second);
    }
  };
  const auto move_all = [=](int64_t i, int64_t end) HWY_ATTR {
    for (; i < end; ++i) {
      move(i);
    }
  };
  if (rows.prefetch_rows > 0) {
    const int64_t ahead = rows.prefetch_rows < rows.count ? rows.prefetch_rows : rows.count;
    for (int64_t i = 0; i < ahead; ++i) {
      prefetch_far<kPart*(kTwice ? 2 : 1)>(data + offsets[i]);
    }
    in_runs(rows, [&](int64_t begin, int64_t end) HWY_ATTR {
      const int64_t last_prefetch = end < rows.count - ahead ? end : rows.count - ahead;
      int64_t i = begin;
      for (; i < last_prefetch; ++i) {
        prefetch_far<kPart*(kTwice ? 2 : 1)>(data + offsets[i + ahead]);
        move(i);
      }
      move_all(i, end);
    });
    return;
  }
  in_runs(rows, move_all);
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

HWY_INLINE void prefetch_row_lines(const uint8_t* row, int64_t bytes) {
  const int64_t bytes_ahead = bytes < kPrefetch.of_row ? bytes : kPrefetch.of_row;
  for (int64_t at = 0; at < bytes_ahead; at += kLine) {
    prefetch_far(row + at);
  }
  if (reinterpret_cast<uintptr_t>(row) % kLine != 0) {
    prefetch_far(row + bytes_ahead - 1);  // a row that starts within a line may end in one more
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
  // Locals: a store of bytes might change what a reference refers to, and would have it read again.
  const auto* const data = reinterpret_cast<const uint8_t*>(rows.data);
  auto* output = reinterpret_cast<uint8_t*>(rows.output);
  const int64_t* const offsets = rows.offsets;
  const int64_t count = rows.count;
  const int64_t step = rows.output_step;
  const int64_t bytes = rows.row_bytes;
  const int64_t ahead = rows.prefetch_rows < count ? rows.prefetch_rows : count;
  for (int64_t i = 0; i < ahead; ++i) {
    prefetch_row_lines(data + offsets[i], bytes);
  }
  for (int64_t i = 0; i < count; ++i, output += step) {
    if (ahead > 0 && i + ahead < count) {
      prefetch_row_lines(data + offsets[i + ahead], bytes);
    }
    if constexpr (kStream) {
      stream_row(data + offsets[i], output, bytes);
    } else {
      copy_row(data + offsets[i], output, bytes);
    }
  }
}

// Rows from far away, a piece of each of kGather.turn_rows rows, then the next piece of each, while
// those of the next kGather.turn_rows rows are prefetched: read from end to end, a row sets off the
// hardware prefetcher, which fetches what follows the row, too, and that is never used.
void move_in_turn(const RowMove& rows) {
  const auto* const data = reinterpret_cast<const uint8_t*>(rows.data);
  auto* const output = reinterpret_cast<uint8_t*>(rows.output);
  const int64_t* const offsets = rows.offsets;
  const int64_t count = rows.count;
  const int64_t step = rows.output_step;
  const int64_t pieces = rows.row_bytes / kGather.turn_bytes;
  for (int64_t first = 0; first < count; first += kGather.turn_rows) {
    const int64_t end = first + kGather.turn_rows < count ? first + kGather.turn_rows : count;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t at = piece * kGather.turn_bytes;
      // The last piece has what is left over, too.
      const int64_t bytes = piece + 1 < pieces ? kGather.turn_bytes : rows.row_bytes - at;
      for (int64_t i = first; i < end; ++i) {
        if (i + kGather.turn_rows < count) {
          prefetch_row_lines(data + offsets[i + kGather.turn_rows] + at, bytes);
        }
        copy_row(data + offsets[i] + at, output + i * step + at, bytes);
      }
    }
  }
}

// row_bytes is kPart or more: this is the size, or twice the part will do, or a larger part is
// tried.
template <int64_t kPart>
void move_by_size(const RowMove& rows) {
  if (rows.row_bytes == kPart) {
    move_narrow<kPart, false>(rows);
  } else if constexpr (2 * kPart <= kNarrowRow) {
    if (rows.row_bytes < 2 * kPart) {
      move_narrow<kPart, true>(rows);
    } else {
      move_by_size<2 * kPart>(rows);
    }
  }
}

// Any rows.
void move_copied(const RowMove& rows) {
  if (rows.row_bytes <= kNarrowRow) {
    move_by_size<1>(rows);
  } else {
    move_wide<false>(rows);
  }
}

#if SHEAF_STREAMS_LINES

// Rows of a line or more, written around the cache.
void move_streamed(const RowMove& rows) { move_wide<true>(rows); }

// Rows that share lines of the output: gathered in a buffer first, so that whole lines can go out.
void move_staged(const RowMove& rows) {
  constexpr int64_t kStage = kGather.stage_bytes;
  alignas(64) uint8_t stage[kStage];
  const auto* const data = reinterpret_cast<const uint8_t*>(rows.data);
  auto* output = reinterpret_cast<uint8_t*>(rows.output);
  const int64_t bytes = rows.row_bytes;
  const int64_t group = kStage / bytes;
  for (int64_t begin = 0; begin < rows.count; begin += group) {
    const int64_t end = begin + group < rows.count ? begin + group : rows.count;
    for (int64_t i = begin; i < end; ++i) {
      if (rows.prefetch_rows > 0 && i + rows.prefetch_rows < rows.count) {
        prefetch_row_lines(data + rows.offsets[i + rows.prefetch_rows], bytes);
      }
      copy_row(data + rows.offsets[i], stage + (i - begin) * bytes, bytes);
    }
    stream_row(stage, output, (end - begin) * bytes);
    output += (end - begin) * bytes;
  }
}

#else

inline constexpr MoveRows move_streamed = nullptr;
inline constexpr MoveRows move_staged = nullptr;

#endif

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

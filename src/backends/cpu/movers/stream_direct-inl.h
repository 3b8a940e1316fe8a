// SPDX-License-Identifier: MIT
//
// Rows of 16, 32, 48 and 64 bytes straight from index values, written around the cache. A line of
// the output is put together in registers and goes out whole: a line that waits for its second half
// holds a buffer that rows in flight need, and may have to be written in parts.
#if defined(SHEAF_CPU_STREAM_DIRECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_STREAM_DIRECT_INL
#undef SHEAF_CPU_STREAM_DIRECT_INL
#else
#define SHEAF_CPU_STREAM_DIRECT_INL
#endif

#include <hwy/cache_control.h>

#include <cstring>
#include <utility>

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/movers/copy-inl.h"
#include "backends/cpu/movers/copy_direct-inl.h"
#include "backends/cpu/movers/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if SHEAF_STREAMS_LINES

// A vector of pieces from number kFirst on, counted from the beginning of the first entry's row;
// rows have kPieces each and lie side by side in data.
template <int64_t kPieces, int64_t kFirst, class D>
HWY_INLINE hn::Vec<D> load_pieces(D d, const uint8_t* data, const int64_t* entries) {
  constexpr int64_t kWanted = static_cast<int64_t>(hn::MaxLanes(D())) / kStreamPiece;
  if constexpr (kFirst % kPieces + kWanted <= kPieces) {
    const int64_t piece = entries[kFirst / kPieces] * kPieces + kFirst % kPieces;
    return hn::LoadU(d, data + piece * kStreamPiece);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_pieces<kPieces, kFirst + kWanted / 2>(half, data, entries),
                       load_pieces<kPieces, kFirst>(half, data, entries));
  }
}

// Vectors of pieces from number kFirst on, one for each of kVectors.
template <int64_t kPieces, int64_t kFirst, class D, int64_t... kVectors>
HWY_INLINE void stream_pieces(D d, const uint8_t* data, const int64_t* entries, uint8_t* to,
                              std::integer_sequence<int64_t, kVectors...> /*vectors*/) {
  constexpr auto kBytes = static_cast<int64_t>(hn::MaxLanes(D()));
  (hn::Stream(load_pieces<kPieces, kFirst + kVectors * kBytes / kStreamPiece>(d, data, entries), d,
              to + kVectors * kBytes),
   ...);
}

// The rows of kGroup indices, into the second level. An index as it stands may lead anywhere, and
// so may a prefetch.
template <class Index, int64_t kRowBytes>
HWY_INLINE void prefetch_group(const std::byte* data, const std::byte* indices, int64_t i) {
  HWY_UNROLL(8)
  for (int64_t k = 0; k < kGroup; ++k) {
    const auto index = static_cast<uint64_t>(widen(load_index<Index>(indices, i + k)));
    prefetch_ahead<2>(data, static_cast<int64_t>(index * uint64_t{kRowBytes}));
  }
}

// kPhase: the piece of a row at which a line begins. True if no index was clamped.
template <class Index, int64_t kPieces, int64_t kPhase>
bool stream_rows_of(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  constexpr int64_t kRowBytes = kPieces * kStreamPiece;
  constexpr int64_t kHeadBytes = kPhase * kStreamPiece;
  const hn::CappedTag<uint8_t, kLine> d;
  constexpr int64_t kVectors = kGroup * kRowBytes / static_cast<int64_t>(hn::MaxLanes(d));
  const EntryRule rule = entry_rule(nest, nest.coordinates[0]);
  const auto* const data = reinterpret_cast<const uint8_t*>(rows.data);
  auto* const output = reinterpret_cast<uint8_t*>(rows.output);
  const std::byte* const indices =
      run.indices + nest.coordinates[0].offset * static_cast<int64_t>(sizeof(Index));
  const int64_t count = rows.count;
  int64_t bad = 0;
  const auto entry_at = [&](int64_t i) HWY_ATTR {
    return clamped_entry<true>(rule, load_index<Index>(indices, i), bad);
  };
  const auto copy = [&](int64_t i) HWY_ATTR {
    std::memcpy(output + i * kRowBytes, data + entry_at(i) * kRowBytes, kRowBytes);
  };
  // Up to the first line, which begins in row `i`.
  const int64_t before = -reinterpret_cast<intptr_t>(output) & (kLine - 1);
  int64_t i = 0;
  for (; i < before / kRowBytes && i < count; ++i) {
    copy(i);
  }
  if (i + kGroup < count) {
    // The row that a group shares with the one before, and kGroup more.
    int64_t entries[kGroup + 1];
    entries[0] = entry_at(i);
    std::memcpy(output + i * kRowBytes, data + entries[0] * kRowBytes, kHeadBytes);
    for (; i + kGroup < count; i += kGroup) {
      load_entries<Index>(rule, indices, i + 1, entries + 1, bad);
      if (kPieces == 1 && i + kPrefetch.streamed_rows + kGroup < count) {
        prefetch_group<Index, kRowBytes>(rows.data, indices, i + 1 + kPrefetch.streamed_rows);
      }
      stream_pieces<kPieces, kPhase>(d, data, entries, output + i * kRowBytes + kHeadBytes,
                                     std::make_integer_sequence<int64_t, kVectors>());
      entries[0] = entries[kGroup];
    }
    std::memcpy(output + i * kRowBytes + kHeadBytes, data + entries[0] * kRowBytes + kHeadBytes,
                kRowBytes - kHeadBytes);
    ++i;
  }
  for (; i < count; ++i) {
    copy(i);
  }
  return bad == 0;
}

template <class Index, int64_t kPieces, int64_t kPhase = 0>
bool stream_from_phase(const Nest& nest, const IndexRun& run, const RowMove& rows, int64_t phase) {
  if constexpr (kPhase + 1 < kPieces) {
    if (phase != kPhase) {
      return stream_from_phase<Index, kPieces, kPhase + 1>(nest, run, rows, phase);
    }
  }
  return stream_rows_of<Index, kPieces, kPhase>(nest, run, rows);
}

// For rows of whole pieces, up to a line, side by side in an output at a multiple of a piece.
template <class Index, int64_t kPieces = 1>
bool stream_rows(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  if constexpr (kPieces * kStreamPiece < kLine) {
    if (rows.row_bytes != kPieces * kStreamPiece) {
      return stream_rows<Index, kPieces + 1>(nest, run, rows);
    }
  }
  const int64_t before = -reinterpret_cast<intptr_t>(rows.output) & (kLine - 1);
  return stream_from_phase<Index, kPieces>(nest, run, rows, before / kStreamPiece % kPieces);
}

bool stream_direct(const Nest& nest, const IndexRun& run, const RowMove& rows) {
  return nest.index_type == i32 ? for_each_step<int32_t>(nest, run, rows, stream_rows<int32_t>)
                                : for_each_step<int64_t>(nest, run, rows, stream_rows<int64_t>);
}

#else

inline constexpr MoveDirect stream_direct = nullptr;

#endif

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

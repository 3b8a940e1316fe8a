// SPDX-License-Identifier: MIT
//
// Every number that was measured rather than derived, with its reason. Numbers that differ between
// processors are fields of Processor; the others were found on a Xeon (x86-64) and on a Neoverse V1
// (arm64), where both had their best at about the same value.
#pragma once

#include <cstdint>

namespace sheaf::cpu {

inline constexpr int64_t kLine = 64;  // bytes that a processor fetches at once

// Points that are resolved at a time: their offsets, 16 KiB, fit the first-level cache beside rows.
inline constexpr int64_t kBlock = 2048;

// What kinds of processors are good and bad at.
struct Processor {
  // Has stores that write around the cache, and they pay. Arm64 processors notice without being
  // told that whole lines are written in order.
  bool streaming_stores = false;
  // The hardware prefetcher, set off by a row of several lines, goes on past its end. Wide rows
  // from far away are then copied in turn: rows of 1 and 4 KiB in 0.5 and 0.6 of the time.
  bool prefetcher_overshoots = true;
  // Indices are worth prefetching even if they may be in the last-level cache. A Xeon would take
  // 1.15 times as long over rows of 16 and 32 bytes.
  bool prefetches_near_indices = false;
  // Two stores that overlap take 1.2 to 7 times as long as two that do not.
  bool slow_overlapping_stores = false;
  // Columns are reduced faster from a block of offsets than index by index: on a Xeon in 0.9 of the
  // time, on a Neoverse V1 in 1.4 times of it.
  bool columns_from_offsets = false;
  // Loads are what limits a reduction: updates side by side are loaded as vectors and taken apart,
  // in 0.9 of the time.
  bool few_loads = false;
  // Points of a block whose rows are moved straight from indices. A Neoverse V1 writes around its
  // caches until other memory is written, which happens between blocks: rows of 16 bytes from a
  // small table take 0.84 ns each in blocks of 2048, 0.78 in blocks of 16384, 0.70 in these.
  int64_t direct_block = kBlock;
  // Bytes by which a long sequence is prefetched into the second level. A Neoverse V1 looks only
  // 4 KiB ahead: indices from the last level take 0.85 of the time, from memory 0.8. A Xeon stops
  // at the end of each page of 4 KiB: 0.75 from memory; further ahead is no better.
  int64_t sequence_ahead = int64_t{4} << 10;
  // Bytes by which an output that goes through the cache is prefetched; 0: not at all. A Xeon has
  // too few store buffers to wait for each line; arm64 processors do not read lines first.
  int64_t output_ahead = 0;
};

inline constexpr Processor kUnknownProcessor;
inline constexpr Processor kXeon{.streaming_stores = true,
                                 .prefetcher_overshoots = false,
                                 .columns_from_offsets = true,
                                 .output_ahead = 1024};
inline constexpr Processor kNeoverseV1{.prefetches_near_indices = true,
                                       .slow_overlapping_stores = true,
                                       .few_loads = true,
                                       .direct_block = 65536,
                                       .sequence_ahead = int64_t{16} << 10};

// The processor that stands for the architecture that is compiled for.
#if defined(__x86_64__) || defined(_M_X64)
inline constexpr const Processor& kProcessor = kXeon;
#elif defined(__aarch64__) || defined(_M_ARM64)
inline constexpr const Processor& kProcessor = kNeoverseV1;
#else
inline constexpr const Processor& kProcessor = kUnknownProcessor;
#endif

// How far ahead of its use memory is prefetched.
struct PrefetchTuning {
  // Rows from offsets: 32 narrow ones, or 8 KiB of wide ones, cover a memory latency.
  int64_t rows = 32;
  int64_t row_bytes = 8192;
  // Bytes of a long row; the hardware prefetcher follows the rest. Of a row that is reduced less:
  // its updates are read as well.
  int64_t of_row = 4096;
  int64_t of_reduced_row = 512;
  int64_t direct_rows = 16;  // rows and elements straight from indices
  // Streamed rows of 16 bytes straight from indices: without huge pages a Xeon has too few of them
  // in flight (0.85 of the time). Longer ones would take up to 1.1 times as long.
  int64_t streamed_rows = 32;
  int64_t listed_updates = 16;  // a scatter's updates from a list
  int64_t strip_entries = 16;   // of a strip: too far apart for the hardware prefetcher
  // Points: a run of fewer is over before the next one's indices arrive.
  int64_t points = 512;
  // A row of data that indices choose from is brought into the first-level cache up to this size,
  // a share before each run of this many rows: all at once, requests would find no free buffer.
  int64_t near_data = int64_t{64} << 10;
  int64_t share_rows = 64;
  int64_t share_loads = 16;  // the same in the loop over 32-bit offsets
};
inline constexpr PrefetchTuning kPrefetch;

// Gathers: tiles, and which mover pays.
struct GatherTuning {
  // A call of fewer rows and bytes is over in less time than it takes to cut it into tiles.
  int64_t small_rows = 256;
  int64_t small_bytes = int64_t{32} << 10;
  // Output of a tile: each tile starts with nothing prefetched, so it should not be short.
  int64_t tile_bytes = int64_t{1} << 20;
  int64_t tiles_per_thread = 4;
  // Offsets in 32 bits of indices that serve many rows: with the row of data, they just fit the
  // first-level cache.
  int64_t short_block = 8192;
  // A tile of short runs has some blocks, so that the cost of starting it does not matter.
  int64_t joined_points = 8 * kBlock;
  // An output larger than this is written around the cache. A fraction of the last level, which is
  // shared with the inputs and other programs. A Xeon's core takes 51 ns per row of 256 bytes into
  // an output of 32 MiB that goes through the cache, and 22 into one that does not.
  int64_t streamed_output = int64_t{16} << 20;
  // From this size on, the ragged ends of a row do not matter to streaming it; shorter ones are
  // collected in a buffer of stage_bytes first.
  int64_t streamed_row = 2048;
  int64_t stage_bytes = 4096;
  // Rows that are copied in turn, and the piece of each.
  int64_t turn_rows = 8;
  int64_t turn_bytes = 256;
};
inline constexpr GatherTuning kGather;

// Runs of a few points that are moved or reduced as one.
struct ShortRunTuning {
  // Longer runs are as fast alone: the row of data that they choose from is prefetched.
  int64_t points = 128;
  int64_t bytes = 4096;
  int64_t least_runs = 4;  // with fewer, the table of places costs more than it saves
};
inline constexpr ShortRunTuning kShortRuns;

// The check of all indices, and copies of whole tensors.
struct WalkTuning {
  int64_t undivided_tuples = 256;  // fewer are not worth dividing
  int64_t thread_tuples = 16384;   // checked by a thread between two looks at the others' result
  int64_t tuples = 4096;           // components of so many are read while they are in cache
  int64_t copy_bytes = int64_t{1} << 20;  // copied between two looks at the cancellation
  int64_t copy_rows = 4096;
};
inline constexpr WalkTuning kWalk;

struct ScatterTuning {
  // Parts for many threads; with fewer, sorting spreads the updates better. Parts by loops pay from
  // a few on: no part reads the updates of another.
  int64_t many_parts = 64;
  int64_t few_parts = 8;
  int64_t parts_per_thread = 4;  // which even out cores of different speed
  int64_t least_columns = 512;   // bytes of a row that are worth a pass over the indices
  // Points of a run that a part has at least: starting one takes as long as some updates do. On 16
  // threads, 1024 x 1024 elements take 0.6 to 0.7 of the time in runs of 64 instead of 16.
  int64_t least_run = 64;
  // The hardware prefetcher follows long runs. It cannot follow shorter ones, each on another page:
  // those are prefetched this many runs ahead.
  int64_t short_run = 512;
  int64_t runs_ahead = 2;
  // Updates that are sorted at a time, so that the lists stay in cache, and the ranges of data that
  // they are sorted into.
  int64_t sorted_updates = int64_t{1} << 19;
  int64_t sorted_ranges = 256;
  // Costs per update in nanoseconds on a Neoverse V1. Only the order of the three estimates in
  // choose_way() matters; other processors differ less in the ratios.
  double resolve = 4;  // an index, its owner, and an update out of order
  double sort = 20;    // counting, moving and finding an update again
  double reduce_near = 0.8, reduce_near_byte = 1.0 / 16;
  double reduce_far = 2.0, reduce_far_byte = 1.0 / 12;
  double wake = 30e3;  // per call that uses threads
};
inline constexpr ScatterTuning kScatter;

struct ThreadTuning {
  // Waking a thread takes longer than moving this many bytes, which a core does in some 10 us; so
  // long take 2000 rows from far away, too.
  int64_t least_bytes = int64_t{128} << 10;
  // A few pieces per thread even out cores of different speed without scattering the writes.
  int64_t pieces = 4;
  int64_t most_pieces = 1024;
  // While the caller waits it first yields this many times: most threads finish in less time than a
  // sleep takes. Then it sleeps between two looks at the cancellation.
  int yields = 1000;
  int sleep_us = 50;
};
inline constexpr ThreadTuning kThreads;

// The comparison of gather instructions with loads: a table in the first-level cache, where the
// instruction counts most, and the best of some rounds, so that an interrupt does not decide.
struct ProbeTuning {
  int entries = 1024;
  int rounds = 16;
};
inline constexpr ProbeTuning kProbe;

}  // namespace sheaf::cpu

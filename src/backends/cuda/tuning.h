// SPDX-License-Identifier: MIT
//
// The numbers that kernels are tuned by, one struct per family. Where a comment names no other
// reason, a number was the fastest of its neighbours on an NVIDIA H200 (132 multiprocessors, 227
// KiB of shared memory per block, 50 MiB of L2); docs/tuning.md lists what was tried. Another
// machine changes speed only: nothing here changes a result.
#pragma once

#include <cstdint>

namespace sheaf::cuda {

// Properties of CUDA devices.
inline constexpr int kWarp = 32;                  // threads
inline constexpr int kLineBytes = 128;            // of L2
inline constexpr int64_t kSectorBytes = 32;       // what one element brings in from memory
inline constexpr int kWordBytes = 16;             // the widest that one instruction moves
inline constexpr int64_t kReservedShared = 1024;  // bytes of every block, taken by CUDA

// Threads of a block, where a family has no reason for another number.
inline constexpr int kBlockThreads = 256;

namespace tuning {

// steps/check.cu
struct Check {
  static constexpr int kInFlight = 8;    // indices per thread
  static constexpr int kBlocksEach = 8;  // per multiprocessor: fills it
};

// gather/rows.cu, gather/move_rows.cuh
struct Rows {
  // Words that a thread has in flight: 64 bytes, or what registers allow.
  template <int kBytes>
  static constexpr int kWordsInFlight = kBytes == 16 ? 4 : 8;
  // Up to here, checking all indices in every block takes less time than another launch.
  static constexpr int64_t kSmallIndices = 16384, kSmallBlocks = 128;
  static constexpr int kSmallInFlight = 8;  // indices per thread
  // Up to this many words a call takes the time of two dependent loads and of fetching the code:
  // one word per thread, and little code. 32 rows of 256 bytes then take 4.1 instead of 5.0 us.
  static constexpr int64_t kFewWords = int64_t{1} << 17;
  static constexpr int kFewThreads = 128;
  // From this many words on, the place of a row is computed once for all of them.
  static constexpr uint64_t kWideRow = 8;
  static constexpr int kWideBlocks = 5;  // per multiprocessor
};

// tables/numbered_rows.cu
struct NumberedRows {
  static constexpr int kInFlight = 4;  // words of a thread, which the bus brings slower than that
};

// gather/odd_rows.cu
struct OddRows {
  static constexpr int64_t kMostRow = int64_t{1} << 30;  // bytes: numbers have 32 bits
  static constexpr int64_t kLeastWords = 4;          // of a row, by which cuda.rows would move it
  static constexpr int kMostRows = 512;              // of a tile: their places are in shared memory
  static constexpr int64_t kStageBytes = 24 * 1024;  // of shared memory
  static constexpr int kBlocks = 6;                  // per multiprocessor, with so many bytes each
};

// gather/lookup.cu
struct Lookup {
  static constexpr int kThreads = 1024;               // of all blocks of a multiprocessor
  static constexpr int64_t kMostBlocks = 4;           // of a multiprocessor
  static constexpr int64_t kMostShared = 16384;       // indices kept in shared memory
  static constexpr int64_t kTileBytes = 16 << 10;     // short rows are staged together up to this
  static constexpr int kStepsInFlight = 2;            // and as many being loaded
  static constexpr int64_t kMost = int64_t{1} << 24;  // indices, entries: divisions have 31 bits
};

// gather/long_rows.cu
struct LongRows {
  static constexpr int kThreads = 1024;
  static constexpr int kStepsInFlight = 4;
  // Of shared memory, for rows that do not fit: L1, through which the rest comes, is what it leaves
  // over. gather_elements of 2048 x 100,000 floats took 1.49, 1.36, 1.23, 1.18, 1.22 and 1.55 ms
  // with 64, 100, 130, 160, 192 and 224 KiB.
  static constexpr int64_t kHeldTenths = 7;
  static constexpr int64_t kL2Tenths = 7;  // for the rest of the rows being chosen from
};

// gather/columns.cu
struct Columns {
  static constexpr int kInFlight = 8;                  // rows per thread that chooses
  static constexpr int kWordsOfPack = 4;               // per thread that packs
  static constexpr int64_t kWidest = 256;              // columns of a strip; divides kBlockThreads
  static constexpr int64_t kNarrowest = kSectorBytes;  // bytes: less wastes sectors
  static constexpr int64_t kMostStrips = 4096;         // launches
  static constexpr int64_t kL2Part = 3;    // a strip has a third: two are in use, and outputs
  static constexpr int64_t kFitsPart = 4;  // data of a quarter stays in L2 unpacked
  static constexpr int64_t kLeastUse = 8;  // of 8 entries of a column, one is chosen at least
};

// gather/held_columns.cu
struct HeldColumns {
  static constexpr int kThreads = 1024;
  static constexpr int64_t kWidest = kLineBytes, kNarrowest = 16;  // bytes of a strip
  // Outputs of a strip, and of a call for each multiprocessor: to fill shared memory takes as long
  // as to choose some thousands.
  static constexpr int64_t kLeastOutputs = 8192, kLeastOfMultiprocessor = 4096;
  // Of shared memory: L1 is what it leaves over. The next step of 32 KiB took 1.2 times as long.
  static constexpr int64_t kHeldSevenths = 6;
};

// scatter/atomics.cu
struct Atomics {
  // One atomic covers only a few elements; for wider rows, sorting is faster and keeps the order.
  static constexpr int64_t kMostRequests = 8;
  // Float atomics on about a hundred cells wait for one another, while sorted lists of so many
  // cells are reduced side by side: 8 Mi rows of 64 bytes into 100 take 0.92 ms by atomics and 0.49
  // sorted. With 1000 cells atomics are ahead again, and with a few the lists are too long.
  static constexpr int64_t kLeastRow = 64, kFewestCells = 64, kMostCells = 256;
  static constexpr int64_t kLeastUpdates = 4096, kMostUpdates = int64_t{1} << 18;  // of a cell
};

// scatter/last.cu
struct Last {
  static constexpr int kBlocks = 5, kBlocksAtOnce = 4;  // per multiprocessor; that write at once
  static constexpr int kFewBlocks = 4;        // per multiprocessor, for launches with nothing to do
  static constexpr int64_t kMostUpdates = 2;  // of a cell, to write at once: most of them win
  static constexpr int64_t kMostCells = 8;    // per update: a sort takes less memory than marks
};

// scatter/sort.cuh, scatter/reduce.cuh: lists of sorted tuples.
struct Lists {
  static constexpr int kWarps = kBlockThreads / kWarp;
  static constexpr int kMostTile = 1024, kLeastTile = 64;  // tuples of a block
  static constexpr int64_t kBlocksEach = 4;   // per multiprocessor, before tiles become smaller
  static constexpr int64_t kMostPieces = 32;  // of a cell, that one block has
  static constexpr int kUpdatesAhead = 4;     // per thread
  // Lists of more tuples are long. A thread walks shorter ones as fast as memory answers.
  static constexpr int64_t kLong = 128;
  // Lists of more tuples are huge: they come first, so that none of them is begun late.
  static constexpr int64_t kHuge = 4096;
};

// scatter/sort_counted.cu
struct CountingSort {
  static constexpr int kThreads = 256;
  static constexpr int kBlocksEach = 2;        // of a multiprocessor, all at once
  static constexpr int kInFlight = 4;          // tuples of a thread
  static constexpr int64_t kMostCells = 2048;  // 64 KiB of shared memory: a count per warp and cell
  // One launch takes less time than the six of the library's sort, whose passes are faster.
  static constexpr int64_t kLeastTuples = 8192, kMostTuples = int64_t{1} << 20;
};

// scatter/produce_long.cuh, scatter/reduce_long.cuh: long lists.
struct Long {
  static constexpr int kProducers = 256;  // threads of a team, beside one warp that consumes
  static constexpr int kTeams = 2;        // of a block; one block per multiprocessor
  static constexpr int kSlots = 4;  // of a ring; more would take memory from L1, which updates pass
  static constexpr int kStageRows = 256;  // updates of a stage, at most
  static constexpr int kGroupBytes = 64;  // of a cell that a team reduces, at most
  // A producer loads two words of each of two updates per stage.
  static constexpr int kPasses = 2, kHalves = 2;
  static constexpr int64_t kOtherShared = 1024;  // bytes beside the rings: more than there are
};

// scatter/reduce_many.cuh: long lists that are many.
struct Many {
  static constexpr int kThreads = 64;
  static constexpr int kStep = 4;        // updates that are copied and waited for together
  static constexpr int kSteps = 8;       // of a thread's ring: 512 bytes are on their way
  static constexpr int64_t kBlocks = 6;  // per multiprocessor: what its shared memory has room for
  // Lists are many when a multiprocessor would have this many groups of Long::kGroupBytes, four for
  // each of its teams, which begins them one after the other.
  static constexpr int64_t kGroups = 8;
};

// scatter/chained.cu, scatter/reduce_chained.cuh
struct Chained {
  static constexpr int kReduceThreads = 128;
  static constexpr int kShort = 16;            // tuples of a chain that is sorted in registers
  static constexpr int kLongest = 64;          // tuples; longer chains are left to the sort
  static constexpr int kSampleThreads = 1024;  // one sample each
  // No chains are made if one cell has this many samples: about one in 200 tuples. Exchanges at one
  // address wait for one another.
  static constexpr uint32_t kCrowd = 6;
  static constexpr uint32_t kHashBits = 13;
  static constexpr int64_t kLeastTuples = 4096;
  static constexpr int64_t kLeastCells = 4096;     // with fewer, a sample meets some cell by chance
  static constexpr int64_t kMostBytes = 64;        // of a tuple: reading wider ones hides the sort
  static constexpr int64_t kMostTuplesOfCell = 8;  // on average
  static constexpr int kEmptyBlocks = 2;           // per multiprocessor, that empty the chains
};

// scatter/sort_on_demand.cu
struct SortOnDemand {
  static constexpr int kThreads = 512;
  static constexpr int kItems = 8;  // of a thread at a time
  static constexpr int kDigitBits = 8;
  static constexpr int kBlocksEach = 2;  // of a multiprocessor, all at once
};

// scatter/shared.cu and its kernels
struct Shared {
  static constexpr int kMostThreads = 1024, kSmallThreads = 64;
  static constexpr int64_t kSmallChunk = 512, kSmallGroups = 8;  // items; groups per multiprocessor
  static constexpr int kStaticBytes = 1024;         // of a block's shared memory: more than it has
  static constexpr int64_t kMostCells = 65535;      // numbers of slots and items have 16 bits
  static constexpr int kMostColumnBits = 3;         // 8 floats are a sector
  static constexpr int kWalkedList = 16;            // longer lists are reduced by a warp
  static constexpr int64_t kWhole = 256;            // so that a chunk has as many of every column
  static constexpr int64_t kFewSlots = 32;          // with fewer, lists are long whatever the chunk
  static constexpr int64_t kMostCellsOfUpdate = 8;  // with more, most cells are read for nothing
  template <class T>
  static constexpr int kListsInFlight = sizeof(T) > 4 ? 4 : 8;  // items of a thread
  template <class T>
  static constexpr int kCellsInFlight = sizeof(T) > 4 ? 2 : 4;
};

// scatter/private.cu and its kernels
struct Private {
  static constexpr int kPart = 32;   // updates of a line that are brought to shared memory at once
  static constexpr int kStages = 2;  // parts that are there
  static constexpr int kAhead = 16;  // updates that a thread loads ahead from columns side by side
  // Blocks of a multiprocessor: fewer than three do not have enough loads in flight.
  static constexpr int64_t kLeastResident = 3, kMostResident = 32;
  // Few columns keep few threads busy. Those of few cells are taken all the same: their lists,
  // which cuda.shared would make, are long.
  static constexpr int64_t kFewCells = 32, kLeastColumns = kWarp, kLeastOfFewCells = 4;
};

// scatter/turned.cu
struct Turned {
  static constexpr int kTile = 32;                            // rows and columns of a block
  static constexpr int64_t kStripBytes = int64_t{192} << 20;  // of the workspace, about
  static constexpr int64_t kMostStrips = 256;                 // launches
  static constexpr int64_t kLeastColumns = 256, kMostColumns = 32768;  // of a strip
  static constexpr int64_t kMostCellsOfUpdate = 4;  // with more, turning cells back costs too much
};

// moe/route.cu, moe/spread.cu
struct Moe {
  static constexpr int kThreads = 128;
  static constexpr int kInFlight = 8;             // experts per thread
  static constexpr int64_t kChoicesOfWarp = 128;  // or more, where that would be too many blocks
  static constexpr int64_t kMostBlocks = 128;     // the scan reads a count of each, by expert
  static constexpr int kScanThreads = 1024;
  static constexpr int kScanExperts = 4;  // of a warp at a time
  static constexpr int kRowsAhead = 8;    // numbers of rows that a thread reads before it writes
  static constexpr int64_t kMostExperts = 4096;  // counts of all warps: 64 KiB of shared memory
};

}  // namespace tuning
}  // namespace sheaf::cuda

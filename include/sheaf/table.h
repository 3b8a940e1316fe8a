// SPDX-License-Identifier: MIT
//
// Rows from wherever a table lies to wherever a queue runs. The table is in host memory, in a file,
// on a device or on several ranks (table_of of sheaf/sharded.h); indices and output are in memory
// of the queue.
//
//   sheaf::Table table = sheaf::open_table("model.safetensors", "embed.weight");
//   sheaf::Plan plan = sheaf::plan_gather(table.spec(), indices_spec);
//   sheaf::run(plan, table, indices, output, queue);
//   sheaf::finish(plan, table, queue);  // waits; throws IndexError
//
// Bits, refusals and errors are those of the same plan on plain memory. docs/tables.md has the ways
// that rows take, and which is chosen when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sheaf/bag.h"
#include "sheaf/io.h"
#include "sheaf/queue.h"

#pragma GCC visibility push(default)

namespace sheaf {

// For Table::with().
struct TableOptions {
  // Force a way: "host", "device", "mapped", "split", "ring", "file", "download". Empty: the first
  // of table_ways() that takes the call. Scatters have ways of their own.
  std::string way = {};
  // Rows travel in pieces of at most this many bytes, and of one row at least; several are on the
  // host, for each stream. Threads that gather from host memory share that memory: each fills one
  // part of it while another is copied.
  int64_t piece_bytes = int64_t{16} << 20;
  int pieces = 4;
  int threads = 0;  // that gather from host memory; 0: as many as pay
  // Lock host memory when a device first needs it, so that the device can read it by itself.
  bool lock = false;
  FileOptions file = {};  // of tables in files
  // Rows that stay on the device, for each stream: those that are asked for most often. Gathers of
  // whole rows of a table in row-major order use them.
  int64_t cache_bytes = 0;
  // Only these rows, the first that fit, from the first call on.
  std::vector<int64_t> cached_rows = {};
};

// What calls on a table did, since it was made.
struct TableStats {
  int64_t calls = 0;
  int64_t rows = 0;          // asked for, by all calls
  int64_t rows_fetched = 0;  // from the table, by the ways that fetch them
  int64_t bytes_to_device = 0;
  int64_t cache_hits = 0, cache_misses = 0;  // of rows asked for
  int64_t pieces = 0;
  int64_t staging_bytes = 0;   // host memory of the pieces, of all streams
  bool staging_pinned = true;  // false: some of it is pageable, and copies from it wait
  std::string way;             // of the last call
  int64_t rows_scattered = 0;  // rows of updates, by all calls
  int64_t bytes_to_host = 0;   // of the indices and updates of scatters
  int64_t rows_prefetched = 0;
};
TableStats stats(const Table& table);

// Forgets cached rows. For host memory that was written to by others than Sheaf; a file that was
// changed by a scatter is noticed.
void forget_cached_rows(const Table& table);

// Where the indices of a call are; of a scatter, its updates too.
enum class IndexPlace : uint8_t { kQueue, kHost };

// Runs a gather whose data is `data`; indices and output are in memory of the queue, unless
// `place` says that indices are on the host. On a device the call is ordered after what the stream
// was given before. The ways that fetch rows wait for the indices, check them, and throw IndexError
// before anything is written; they return when the last piece is on its way. The queue needs no
// workspace.
void run(const Plan& plan, const Table& data, const void* indices, void* output, const Queue& queue,
         IndexPlace place = IndexPlace::kQueue);

// The same for rows that are decoded on their way: whole rows of a table whose info() has an
// encoding, in host memory or in a file. They are fetched as they are stored.
void run(const EncodedGatherPlan& plan, const Table& data, const void* indices, void* output,
         const Queue& queue, IndexPlace place = IndexPlace::kQueue);

// A bag of a table's rows, plain or encoded: indices, segments, weights and output are in memory of
// the queue, and `memory.stored` is not read. A piece has whole bags: it is as large as the rows of
// the largest. A device without kernels for bags is given what the host pooled.
void run(const BagPlan& plan, const Table& data, const BagMemory& memory, const Queue& queue);
void finish(const BagPlan& plan, const Table& data, const Queue& queue);

// A hint that changes no bits: a gather of these rows will follow on this queue. Rows that its
// cache on the device lacks are fetched and handed to the stream, as many as the cache has room
// for, in the same memory as a gather's pieces. They take the
// place of rows that are asked for less often, whatever their own frequency. A table in a file with
// a RowCache (FileOptions::cache) and without a cache on the device has rows read into that.
// Otherwise, during a capture, and for plans that go past the cache, nothing is done. Reads indices
// as run() does; those out of range are left out.
void prefetch(const Plan& plan, const Table& data, const void* indices, const Queue& queue,
              IndexPlace place = IndexPlace::kQueue);

// Runs a scatter in place: the table is its data and its output. Indices and updates are in memory
// of the queue, unless `place` says that both are on the host. Bits and errors are those of the
// plan on plain memory, for every reduction. The call is ordered after what the queue's stream was
// given before, and before what it is given after; on a table of the queue's own device it waits
// for nothing, and finish() reports bad indices. Elsewhere it returns when the rows are written,
// and bad indices throw before anything is. Rows that devices keep of this table, or of tables made
// of it by with(), are dropped where they were written. Refuses tables of memory that is not
// writable, and encoded rows. A table in a file is changed as run_scatter_to_file does it.
void run_scatter(const Plan& plan, const Table& data, const void* indices, const void* updates,
                 const Queue& queue, IndexPlace place = IndexPlace::kQueue);

// Waits for the queue's stream and throws IndexError if the last run of `data` on it met a bad
// index. On the host it does nothing.
void finish(const Plan& plan, const Table& data, const Queue& queue);

// What each way says to a call, in the order in which they are asked; the first without a refusal
// runs. Of a plan of a scatter: the ways of run_scatter(), of which none can be forced.
struct WayReport {
  std::string_view name;
  std::string refusal;   // empty: it takes the call
  bool can_run = false;  // if it is forced
};
std::vector<WayReport> table_ways(const Plan& plan, const Table& data, const Queue& queue);

// The same as text, the way that runs first.
std::string explain(const Plan& plan, const Table& data, const Queue& queue);

// How fast rows of one size come by each way, in bytes per second.
struct RowRates {
  int64_t row_bytes = 0;
  double mapped = 0, ring = 0, split = 0;
};

// What decides between the ways of host memory on this machine.
struct TableCosts {
  std::string device;
  std::string machine;         // the device and the processor that they were measured on
  double copy_rate = 0;        // from pinned memory to the device, in bytes per second
  std::vector<RowRates> rows;  // by rising sizes; empty: nothing is known
  std::string note;            // why nothing is known, or why the file was ignored or not written
};

struct MeasureOptions {
  int64_t table_bytes = int64_t{256} << 20;  // of host memory, locked
  int64_t moved_bytes = int64_t{64} << 20;   // per run
  int repeats = 3;                           // of which the fastest counts
};

// Measures a device, which takes some seconds, and keeps what it found: in this process, and in
// table_costs_file(). Of devices that read no host memory there is nothing to measure.
TableCosts measure_table_costs(std::string_view device, const MeasureOptions& options = {});

// What was measured, here or by an earlier process on this machine. A file that is damaged, of
// another machine or of another user is ignored; `note` says so.
TableCosts table_costs(std::string_view device);

// Where they are kept, in XDG_CACHE_HOME/sheaf or HOME/.cache/sheaf; empty: nowhere.
std::string table_costs_file(std::string_view device);

}  // namespace sheaf

#pragma GCC visibility pop

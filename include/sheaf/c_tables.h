// SPDX-License-Identifier: MIT
//
// A part of sheaf/c.h, which includes it: the tables of sheaf/table.h, in files, in host memory or
// on a device, whose rows come to where indices and output are. docs/tables.md has the ways they
// take.
#pragma once

#include "sheaf/c.h"

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

// A table that lies anywhere. Safe to use from many threads.
typedef struct sheaf_table_handle sheaf_table_handle;

typedef struct sheaf_table_options {
  size_t struct_size;      // sizeof this struct, or 0
  const char* way;         // "host", "device", "mapped", "split", "ring", …; NULL: chosen
  int64_t piece_bytes;     // rows travel in pieces of at most so many bytes; 0: 16 MiB
  int32_t pieces;          // on the host, for each stream; 0: 4
  int32_t threads;         // that gather from host memory; 0: as many as pay
  int32_t lock;            // not 0: host memory is locked, so that a device can read it by itself
  int32_t depth;           // reads of a file in flight; 0: 64
  int64_t cache_bytes;     // of rows that stay on the device, for each stream
  sheaf_dims cached_rows;  // which rows; none: those that are asked for most often
  int64_t memory;          // bytes that a call on a file may allocate; 0: 256 MiB
} sheaf_table_options;

// A tensor of a file, by its name; NULL or "": the only one. On success *table is the caller's to
// destroy; on failure it is NULL.
sheaf_status sheaf_table_open(const char* path, const char* name,
                              const sheaf_table_options* options, sheaf_table_handle** table);

// Rows in memory of the host or of a device, which scatters into the table write to. `release`, if
// it is not NULL, is called with `held` when nobody uses the memory any more: after
// sheaf_table_destroy, from any thread, or at once if this function fails.
sheaf_status sheaf_table_memory(const DLTensor* data, void (*release)(void* held), void* held,
                                const sheaf_table_options* options, sheaf_table_handle** table);

// Encoded rows in host memory that hold their own scales (SHEAF_ROW_U8_F32, SHEAF_Q8_0, …). They
// are only read.
sheaf_status sheaf_table_encoded(const sheaf_table* data, void (*release)(void* held), void* held,
                                 const sheaf_table_options* options, sheaf_table_handle** table);

// Type, rank and sizes; of encoded rows, decoded (float32). `data` is NULL; shape and
// strides are the table's: read them while it lives, do not write them.
sheaf_status sheaf_table_tensor(const sheaf_table_handle* table, DLTensor* tensor);

// The gathers with the table as data. Indices and output are in host memory, or both on one device;
// `run` says on which queue, as for sheaf_plan_run. Encoded rows become the output's type; uint8:
// they stay as they are stored.
sheaf_status sheaf_table_gather(const sheaf_table_handle* table, const DLTensor* indices,
                                const DLTensor* output, const sheaf_gather_options* options,
                                const sheaf_run_options* run);
sheaf_status sheaf_table_gather_elements(const sheaf_table_handle* table, const DLTensor* indices,
                                         const DLTensor* output,
                                         const sheaf_gather_elements_options* options,
                                         const sheaf_run_options* run);
sheaf_status sheaf_table_gather_nd(const sheaf_table_handle* table, const DLTensor* indices,
                                   const DLTensor* output, const sheaf_gather_nd_options* options,
                                   const sheaf_run_options* run);

// A bag of the table's rows, plain or encoded: `tensors->data` is NULL. The other tensors and the
// output are in host memory, or all on one device.
sheaf_status sheaf_table_bag(const sheaf_table_handle* table, const sheaf_bag_tensors* tensors,
                             const DLTensor* output, const sheaf_bag_options* options,
                             const sheaf_run_options* run);

// The scatters with the table as data and output: memory is written in place, a file is replaced.
// Indices and updates are in host memory, or both on one device. Where the table is on that device,
// bad indices are reported by sheaf_queue_finish; else before anything is written. Rows that were
// written leave the caches of devices. Encoded rows are refused.
sheaf_status sheaf_table_scatter(const sheaf_table_handle* table, const DLTensor* indices,
                                 const DLTensor* updates, const sheaf_scatter_options* options,
                                 const sheaf_run_options* run);
sheaf_status sheaf_table_scatter_elements(const sheaf_table_handle* table, const DLTensor* indices,
                                          const DLTensor* updates,
                                          const sheaf_scatter_elements_options* options,
                                          const sheaf_run_options* run);
sheaf_status sheaf_table_scatter_nd(const sheaf_table_handle* table, const DLTensor* indices,
                                    const DLTensor* updates,
                                    const sheaf_scatter_nd_options* options,
                                    const sheaf_run_options* run);

// A hint: a gather of these rows will follow on this queue. Those that the cache on the device
// lacks (cache_bytes) are brought there, as many as it has room for. Indices out of range are left
// out. For indices on the host, without a cache, and of encoded rows nothing is done.
sheaf_status sheaf_table_prefetch(const sheaf_table_handle* table, const DLTensor* indices,
                                  const sheaf_gather_options* options,
                                  const sheaf_run_options* run);

// What calls on a table did.
typedef struct sheaf_table_counts {
  size_t struct_size;  // to be set to sizeof this struct before the call
  int64_t calls, rows, rows_fetched, bytes_to_device, cache_hits, cache_misses, pieces;
  int64_t staging_bytes;   // host memory of the pieces
  int32_t staging_pinned;  // 0: some of it is pageable, and copies from it wait
  char way[12];            // of the last call
  int64_t rows_scattered;  // rows of updates
  int64_t bytes_to_host;   // of the indices and updates of scatters
  int64_t rows_prefetched;
} sheaf_table_counts;
sheaf_status sheaf_table_stats(const sheaf_table_handle* table, sheaf_table_counts* counts);

// For memory that was written to: rows that are cached on devices are fetched again.
sheaf_status sheaf_table_forget_cached_rows(const sheaf_table_handle* table);

// NULL is allowed.
void sheaf_table_destroy(sheaf_table_handle* table);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

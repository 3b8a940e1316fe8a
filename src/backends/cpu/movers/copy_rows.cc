// SPDX-License-Identifier: MIT
//
// Backend::copy_rows: rows from places that are known, on several threads.
#include <hwy/cache_control.h>

#include <algorithm>

#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/movers/routines.h"
#include "backends/cpu/parallel.h"

namespace sheaf::cpu {

void copy_rows(const RowCopy& copy, int threads) {
  const bool stream =
      kProcessor.streaming_stores && copy.row_bytes >= kLine && exceeds_cache(copy.written_bytes);
  const int64_t bytes = copy.count * std::max(copy.row_bytes, kLine);
  parallel_ranges(copy.count, worthwhile_threads(bytes, threads), [&](int64_t begin, int64_t end) {
    RowMove rows{};
    rows.data = copy.data;
    rows.offsets = copy.offsets + begin;
    rows.count = end - begin;
    rows.output = copy.output + begin * copy.row_bytes;
    rows.output_step = copy.row_bytes;
    rows.row_bytes = copy.row_bytes;
    rows.prefetch_rows = rows_ahead(copy.row_bytes);
    rows.stream = stream;
    rows_mover(rows)(rows);
    if (stream) {
      hwy::FlushStream();
    }
  });
}

}  // namespace sheaf::cpu

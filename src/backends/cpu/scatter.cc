// SPDX-License-Identifier: MIT
//
// The scatter kernels of the CPU: who takes which nest.
#include "backends/cpu/scatter.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "backends/cpu/machine.h"
#include "execution/registry.h"

namespace sheaf::cpu {
namespace {

// Enough parts for many threads; with fewer, sorting the updates spreads them better.
constexpr int64_t kManyParts = 64;

// What moves the address of a row: a loop or an index.
struct Mover {
  int64_t extent, stride;
};

// True if rows at different places of the nest's data never share a byte: each mover steps over all
// that the smaller ones span.
bool rows_apart(const Nest& nest) {
  std::array<Mover, size_t{2} * kMaxRank> movers;
  size_t count = 0;
  for (const Loop& loop : nest.loops) {
    if (loop.data != 0) {
      movers[count++] = {loop.extent, std::abs(loop.data)};
    }
  }
  for (const Coordinate& c : nest.coordinates) {
    if (c.extent > 1) {
      movers[count++] = {c.extent, std::abs(c.stride)};
    }
  }
  std::sort(movers.begin(), movers.begin() + static_cast<ptrdiff_t>(count),
            [](const Mover& a, const Mover& b) { return a.stride < b.stride; });
  int64_t span = nest.row_bytes;
  for (size_t m = 0; m < count; ++m) {
    if (movers[m].stride < span) {
      return false;
    }
    span += (movers[m].extent - 1) * movers[m].stride;
  }
  return true;
}

// How many threads could have data of their own, no two on one line.
int64_t part_count(const Nest& nest) {
  int64_t parts = std::max<int64_t>(1, nest.row_bytes / kLeastColumns);
  for (const Loop& loop : nest.loops) {
    if (loop.data != 0) {
      const int64_t bytes = loop.extent * std::min(kLine, std::abs(loop.data));
      parts *= std::clamp<int64_t>(bytes / kLine, 1, kManyParts);
      parts = std::min(parts, kManyParts);
    }
  }
  return parts;
}

const char* in_order_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  for (const Loop& loop : nest.loops) {
    if (loop.window != 0) {
      return "windows are cut element by element";
    }
  }
  return nullptr;
}

const char* sorted_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* why = in_order_refusal(query)) {
    return why;
  }
  return rows_apart(nest) ? nullptr : "windows may overlap in data";
}

const char* parts_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* why = sorted_refusal(query)) {
    return why;
  }
  return part_count(nest) >= kManyParts ? nullptr : "no loop gives threads data of their own";
}

// Windows that are cut element by element are left to the plain loops.
const char* accepts_everything(const KernelQuery& /*query*/) { return nullptr; }

bool scatter_plain(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  return host_backends().back()->scatter.front().run(nest, buffers, launch);
}

}  // namespace

constinit const ScatterKernel kScatterKernels[4] = {
    {"cpu.scatter_parts", parts_refusal, scatter_parts},
    {"cpu.scatter_sorted", sorted_refusal, scatter_sorted, Checks::kNever, sorting_bytes},
    {"cpu.scatter_in_order", in_order_refusal, scatter_in_order},
    {"cpu.scatter_plain", accepts_everything, scatter_plain},
};

RunJoiner::RunJoiner(const Nest& nest, const ScatterBuffers& buffers, int64_t prefetch_rows,
                     int64_t first, int64_t bytes)
    : nest_(nest),
      buffers_(buffers),
      routines_(routines()),
      join_(join_for(nest.element_type, nest.reduction, bytes)),
      rows_{.data = buffers.data + first,
            .to = to_,
            .updates = buffers.updates + first,
            .from = nullptr,
            .update_step = innermost(nest).output,
            .count = 0,
            .row_bytes = bytes,
            .prefetch_rows = prefetch_rows,
            .reduce = reduce_row(nest.element_type, nest.reduction)} {}

void RunJoiner::join(Place start, int64_t count) {
  const Loop& inner = innermost(nest_);
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t block = std::min(kBlock, count - at);
    const std::byte* indices = buffers_.indices + start.index * nest_.index_type.bytes();
    routines_.resolve(nest_, {indices, inner.index, block, inner.data}, to_);
    RowJoin rows = rows_;
    rows.data += start.data;
    rows.updates += start.output;
    rows.count = block;
    if (nest_.out_of_range == OutOfRange::kSkip) {
      leave_out_skipped(rows);
    }
    join_(rows);
    start.advance(inner, block);
  }
}

// Turns a block into the list of what remains, if that is not all.
void RunJoiner::leave_out_skipped(RowJoin& rows) {
  if (std::find(to_, to_ + rows.count, kSkipRow) == to_ + rows.count) {
    return;
  }
  int64_t kept = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    if (to_[i] != kSkipRow) {
      to_[kept] = to_[i];
      from_[kept++] = i * rows.update_step;
    }
  }
  rows.from = from_;
  rows.count = kept;
}

void RunJoiner::ask_for(const Place& start, int64_t count) const {
  const Loop& inner = innermost(nest_);
  const auto ask = [](const std::byte* memory, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += kLine) {
      __builtin_prefetch(memory + at);
    }
  };
  const int64_t index_bytes = nest_.index_type.bytes();
  if (inner.index == nest_.coordinates.size()) {
    ask(buffers_.indices + start.index * index_bytes, count * inner.index * index_bytes);
  }
  if (inner.output == nest_.row_bytes) {
    ask(rows_.updates + start.output, count * inner.output);
  }
}

bool scatter_in_order(const Nest& nest, const ScatterBuffers& buffers, const Launch& /*launch*/) {
  const ByteRange reach = data_reach(nest);
  RunJoiner joiner(nest, buffers, rows_ahead(nest, reach.hi - reach.lo), 0, nest.row_bytes);
  for_each_run(nest, 0, point_count(nest), kBlock,
               [&](const Place& start, int64_t count) { joiner.join(start, count); });
  return true;
}

int64_t rows_ahead(const Nest& nest, int64_t bytes) {
  constexpr int64_t kMost = 32;
  constexpr int64_t kBytesAhead = 8192;
  return bytes <= caches().l2 / 2 ? 0 : std::clamp<int64_t>(kBytesAhead / nest.row_bytes, 2, kMost);
}

}  // namespace sheaf::cpu

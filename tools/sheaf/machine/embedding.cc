// SPDX-License-Identifier: MIT
#include "machine/embedding.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "machine/machine.h"
#include "machine/terminal.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr int64_t kWidth = 128;                          // floats in a row
constexpr int64_t kRowBytes = kWidth * 4;                // 512 bytes
constexpr int64_t kMaxMovedBytes = int64_t{128} << 20U;  // enough to leave every cache
constexpr int kRounds = 5;

// What stands in the table: known without looking, whole, and small enough for a float.
float table_value(int64_t row, int64_t column) {
  return static_cast<float>((row * 31 + column * 7) & 0xFFFFFF);
}

void fill_table(std::span<float> table) {
  Progress progress("making the table", std::ssize(table) / kWidth);
  for (int64_t row = 0; row < std::ssize(table) / kWidth; ++row) {
    for (int64_t column = 0; column < kWidth; ++column) {
      table[static_cast<size_t>(row * kWidth + column)] = table_value(row, column);
    }
    if (row % 4096 == 0) {
      progress.at(row);
    }
  }
}

// The same rows each time, without order (splitmix64).
std::vector<int64_t> random_rows(int64_t count, int64_t rows) {
  std::vector<int64_t> picked(static_cast<size_t>(count));
  uint64_t state = 0;
  for (int64_t& row : picked) {
    uint64_t mixed = state += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    row = static_cast<int64_t>((mixed ^ (mixed >> 31U)) % static_cast<uint64_t>(rows));
  }
  return picked;
}

// The fastest of several rounds: the machine may be busy with other things in the others.
template <class Work>
double fastest_round(const char* label, Work work) {
  using Clock = std::chrono::steady_clock;
  Progress progress(label, kRounds);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    progress.at(round + 1);
  }
  return best;
}

std::string first_wrong(std::span<const float> output, const std::vector<int64_t>& rows) {
  Progress progress("checking", std::ssize(rows));
  for (int64_t i = 0; i < std::ssize(rows); ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    for (int64_t column = 0; column < kWidth; ++column) {
      const float got = output[static_cast<size_t>(i * kWidth + column)];
      if (got != table_value(row, column)) {
        return cat("output[", i, ", ", column, "] is ", got, ", expected ",
                   table_value(row, column), " from row ", row);
      }
    }
    if (i % 4096 == 0) {
      progress.at(i);
    }
  }
  return "";
}

// The system grants more memory than there is, and kills the process that uses it.
void check_memory(int64_t table_bytes, int64_t output_bytes) {
  const int64_t available = memory_bytes() / 10 * 9;
  if (available > 0 && table_bytes > available - output_bytes) {
    throw Error(Refusal{.code = ErrorCode::kOutOfMemory,
                        .cause = {.reason = Reason::kMemory},
                        .who = "demo",
                        .what = "the table is too large",
                        .detail = cat("a table of ", bytes_text(table_bytes), " and an output of ",
                                      bytes_text(output_bytes), ", but this machine has ",
                                      bytes_text(memory_bytes())),
                        .next = "a smaller --table-mib"});
  }
}

}  // namespace

EmbeddingReport run_embedding(int64_t table_bytes) {
  EmbeddingReport report{};
  report.rows = table_bytes / kRowBytes;
  report.row_bytes = kRowBytes;
  report.lookups = std::min(report.rows, kMaxMovedBytes / kRowBytes);
  report.bytes_moved = report.lookups * kRowBytes;
  check_memory(table_bytes, report.bytes_moved);
  Array table(TensorSpec(f32, {report.rows, kWidth}));
  Array output(TensorSpec(f32, {report.lookups, kWidth}));
  fill_table(table.elements<float>());
  const std::vector<int64_t> rows = random_rows(report.lookups, report.rows);

  // The copy goes first: it touches every page of the output, so page faults are not timed.
  report.copy_seconds = fastest_round("plain copy", [&] {
    std::memcpy(output.tensor().data, table.tensor().data, static_cast<size_t>(report.bytes_moved));
  });
  const Plan plan = plan_gather(table.spec(), view(rows).spec);
  report.kernel = kernel_name(plan);
  report.gather_seconds = fastest_round(
      "embedding lookup", [&] { plan.run(table.tensor(), view(rows), output.tensor()); });
  report.trouble = first_wrong(output.elements<float>(), rows);
  return report;
}

}  // namespace sheaf::cli

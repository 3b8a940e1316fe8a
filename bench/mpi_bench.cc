// SPDX-License-Identifier: MIT
//
// A sharded gather beside a plain MPI_Alltoallv of as many bytes, in the same run.
//
//   mpirun -n 4 build/release/bin/mpi_bench              # through shared memory, on one node
//   mpirun -n 4 build/release/bin/mpi_bench --messages   # as between nodes
//   mpirun -n 2 build/release/bin/mpi_bench --large      # 3 GiB of rows per rank, once
//
// "local" is the owner's part of the work alone: the same number of rows gathered from its own
// memory.
//
// Every rank asks for random rows of a table that is split over all of them. The exchange moves the
// bytes of the distinct rows between the same pairs of ranks, and does nothing else: no lookup, no
// index, no copy to where the row is wanted.
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "sheaf/mpi.h"
#include "sheaf/sheaf.h"

namespace {

int rank = 0, ranks = 1;

template <class Work>
double seconds(Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  work();
  double spent = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return spent;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

size_t size(int64_t count) { return static_cast<size_t>(count); }

// Floats on huge pages, as large tables should be: random rows would else wait for page tables.
class Floats {
 public:
  explicit Floats(int64_t count) : count_(size(count)) {
    constexpr size_t kHuge = size_t{2} << 20;
    const size_t bytes = (count_ * sizeof(float) + kHuge - 1) / kHuge * kHuge;
    memory_ = static_cast<float*>(std::aligned_alloc(kHuge, std::max(bytes, kHuge)));
    madvise(memory_, bytes, MADV_HUGEPAGE);
    std::fill_n(memory_, count_, 1.0F);
  }
  ~Floats() { std::free(memory_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  std::span<float> all() const { return {memory_, count_}; }

 private:
  size_t count_;
  float* memory_;
};

// MPI_Alltoallv of the distinct rows of each pair of ranks.
class Exchange {
 public:
  Exchange(const std::vector<int64_t>& ids, const sheaf::mpi::Split& split, int64_t row_bytes)
      : wanted_(size(ranks)), given_(size(ranks)), to_(size(ranks)), from_(size(ranks)) {
    const std::set<int64_t> distinct(ids.begin(), ids.end());
    for (const int64_t id : distinct) {
      wanted_[size(split.place(id).rank)] += static_cast<int>(row_bytes);
    }
    MPI_Alltoall(wanted_.data(), 1, MPI_INT, given_.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int in = 0, out = 0;
    for (size_t r = 0; r < size(ranks); ++r) {
      to_[r] = out;
      from_[r] = in;
      out += given_[r];
      in += wanted_[r];
    }
    sent_.resize(size(out));
    received_.resize(size(in));
  }
  void operator()() {
    MPI_Alltoallv(sent_.data(), given_.data(), to_.data(), MPI_BYTE, received_.data(),
                  wanted_.data(), from_.data(), MPI_BYTE, MPI_COMM_WORLD);
  }
  int64_t bytes() const { return std::ssize(received_); }

 private:
  std::vector<int> wanted_, given_, to_, from_;
  std::vector<std::byte> sent_, received_;
};

struct Sizes {
  int64_t table_bytes, batch_bytes;  // per rank
  int runs;
};

void measure(int64_t row_bytes, const Sizes& sizes, const sheaf::mpi::ShardedOptions& options) {
  const int64_t rows = sizes.table_bytes * ranks / row_bytes, count = sizes.batch_bytes / row_bytes;
  const auto split = sheaf::mpi::Split::block(rows, ranks);
  const int64_t mine = split.count(rank), width = row_bytes / 4;
  const Floats part(mine * width);
  const sheaf::mpi::ShardedTensor table(MPI_COMM_WORLD, {sheaf::f32, {rows, width}}, 0, split,
                                        sheaf::view(part.all(), {mine, width}));
  std::mt19937_64 random(static_cast<uint64_t>(rank) + 1);
  std::vector<int64_t> ids(size(count));
  for (int64_t& id : ids) {
    id = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
  }
  const Floats output(count * width);
  const sheaf::Tensor out = sheaf::view(output.all(), {count, width});
  auto plan = plan_gather(table, sheaf::view(ids).spec, {}, options);
  std::vector<int64_t> own(ids);
  for (int64_t& id : own) {
    id %= mine;
  }
  const sheaf::ConstTensor part_tensor = sheaf::view(part.all(), {mine, width});
  const sheaf::Plan local_plan = sheaf::plan_gather(part_tensor.spec, sheaf::view(own).spec);
  Exchange exchange(ids, split, row_bytes);
  std::vector<double> gathers, exchanges, locals;
  for (int run = 0; run < sizes.runs; ++run) {
    const double gather = seconds([&] { plan.run(sheaf::view(ids), out); });
    const double plain = seconds(exchange);
    const double local =
        seconds([&] { local_plan.run(part_tensor, sheaf::view(own), out, {.threads = 1}); });
    if (run > 0) {  // the first touches the pages
      gathers.push_back(gather);
      exchanges.push_back(plain);
      locals.push_back(local);
    }
  }
  if (rank == 0) {
    const double gather = median(gathers), plain = median(exchanges);
    const auto bytes = static_cast<double>(exchange.bytes()) * ranks;
    const double per_row = 1e9 / static_cast<double>(count);
    std::printf("%6d %10ld %14.2f %14.2f %8.2f %9.1f %9.1f %9.1f\n", ranks,
                static_cast<long>(row_bytes), bytes / gather / 1e9, bytes / plain / 1e9,
                plain / gather, gather * per_row, plain * per_row, median(locals) * per_row);
  }
}

// What a run costs before the first row: one index, one row.
void measure_latency() {
  const auto split = sheaf::mpi::Split::block(1024, ranks);
  const Floats part(split.count(rank));
  const sheaf::mpi::ShardedTensor table(MPI_COMM_WORLD, {sheaf::f32, {1024}}, 0, split,
                                        sheaf::view(part.all()));
  const std::vector<int64_t> ids{511};
  std::vector<float> output(1);
  auto plan = plan_gather(table, sheaf::view(ids).spec);
  const int runs = 200;
  const double spent = seconds([&] {
    for (int run = 0; run < runs; ++run) {
      plan.run(sheaf::view(ids), sheaf::view(output));
    }
  });
  if (rank == 0) {
    std::printf("%6d ranks: a run of one index takes %.1f us\n", ranks, spent / runs * 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (rank == 0) {
    std::puts(
        " ranks  row bytes    gather GB/s  alltoallv GB/s    ratio"
        "    gather exchange     local  (ns per row)");
  }
  if (option == "--large") {
    measure(int64_t{1} << 20, {int64_t{256} << 20, int64_t{3} << 30, 2}, {.shared_memory = false});
  } else {
    for (const int64_t row_bytes : {64, 256, 1024, 4096}) {
      measure(row_bytes, {int64_t{64} << 20, int64_t{32} << 20, 7},
              {.shared_memory = option != "--messages"});
    }
    measure_latency();
  }
  MPI_Finalize();
}

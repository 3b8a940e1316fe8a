// SPDX-License-Identifier: MIT
//
// Tables larger than one machine: one axis of a tensor is split over the ranks of a group of
// processes, every rank brings its own indices and gets its own output. The group is a Transport:
// MPI's (sheaf/mpi.h), or any other that can exchange bytes.
//
//   const auto split = Split::block(rows, ranks);
//   ShardedTensor table(transport, TensorSpec(f32, {rows, 64}), 0, split, Part(my_rows));
//   ShardedPlan plan = plan_gather(table, ids.spec);     // collective; make once
//   plan.run(ids, output);                               // collective; run often
//
// Results have the bits of one process, for every number of ranks. Every call below is collective
// over the group unless it says otherwise. An error on one rank is thrown on all of them, with the
// same text, before anything is written. docs/scaling.md has the protocol and its cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sheaf/gather.h"
#include "sheaf/io.h"
#include "sheaf/queue.h"
#include "sheaf/scatter.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf::distributed {
class Window;
}

namespace sheaf::sharded {

// A group of processes, the ranks, as the protocol sees it. Calls are collective: all ranks make
// the same ones in the same order. What an implementation throws is passed on to the caller.
class Transport {
 public:
  // Bytes for one rank, or from one. Those of the own rank are always 0.
  struct Outgoing {
    const void* data;
    int64_t bytes;
  };
  struct Incoming {
    void* data;
    int64_t bytes;
  };

  virtual ~Transport();
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // An all-to-all: to[r] goes to rank r, and what rank r sends here is written to from[r]. Both
  // ends know the sizes. Returns how many bytes arrived; other than all of them is an error.
  virtual int64_t exchange(std::span<const Outgoing> to, std::span<const Incoming> from) = 0;

  // Called once, on a rank where an exchange failed: ends those that other ranks wait in, now and
  // later. Without it they wait for as long as the transport lets them.
  virtual void abort() noexcept {}

  // What follows has defaults made of exchange().

  // Replaces each value by the largest of all ranks' values in its place.
  virtual void largest(std::span<int64_t> values);

  // An exchange that may still be under way. Several can be; they are waited for in their order.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual int64_t wait() = 0;  // how many bytes arrived
  };
  // Memory stays as it is until wait(). `message_bytes`: ShardedOptions::message_bytes.
  virtual std::unique_ptr<Pending> start(std::span<const Outgoing> to,
                                         std::span<const Incoming> from, int64_t message_bytes);

  // Another one over the same ranks, whose exchanges cannot meet those of this one. Null: plans
  // share this one, so only one of them may be running.
  virtual std::shared_ptr<Transport> duplicate() { return nullptr; }

  // Whether a thread of a plan may call it while the caller does something else.
  virtual bool works_in_threads() const { return false; }

  // Collective: `bytes` of memory per rank that all ranks can read, for runs that move
  // `run_bytes`. Null on all ranks: not possible, or not worth its cost.
  virtual std::unique_ptr<distributed::Window> share(int64_t bytes, int64_t run_bytes);
};

// A transport made of functions: exchange() and abort() of above. `stop` may be empty.
class CallbackTransport final : public Transport {
 public:
  using Exchange = std::function<int64_t(std::span<const Outgoing>, std::span<const Incoming>)>;
  CallbackTransport(int rank, int ranks, Exchange exchange, std::function<void()> stop = {});

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int64_t exchange(std::span<const Outgoing> to, std::span<const Incoming> from) override;
  void abort() noexcept override;

 private:
  int rank_, ranks_;
  Exchange exchange_;
  std::function<void()> stop_;
};

// How the entries of one axis are divided among ranks. Not collective.
class Split {
 public:
  // One block per rank; the first entries % ranks ranks have one entry more than the others.
  static Split block(int64_t entries, int ranks);
  // Blocks of `block` entries go to the ranks round-robin.
  static Split block_cyclic(int64_t entries, int ranks, int64_t block);
  // Rank r has entries [offsets[r], offsets[r + 1]): one offset more than ranks, starting at 0.
  static Split at_offsets(std::vector<int64_t> offsets);

  int ranks() const { return ranks_; }
  int64_t entries() const { return entries_; }
  int64_t block() const { return block_; }       // entries per block; 0: one block per rank
  int64_t count(int rank) const;                 // entries of this rank
  int64_t entry(int rank, int64_t local) const;  // the entry that is number `local` there

  struct Place {
    int rank;
    int64_t local;
  };
  Place place(int64_t entry) const;

  friend bool operator==(const Split&, const Split&) = default;

 private:
  Split() = default;
  int ranks_ = 1;
  int64_t entries_ = 0;
  int64_t block_ = 0;              // of block_cyclic; else 0
  int64_t large_ = 0, small_ = 0;  // of block: ranks with small_ + 1 entries, and small_
  std::vector<int64_t> offsets_;   // of at_offsets; else empty
};

// What this rank has: the sizes of the whole tensor, but on the split axis only its own entries.
// The caller keeps the memory alive.
class Part {
 public:
  Part(const Tensor& memory) : tensor_(memory), writable_(true) {}
  Part(const ConstTensor& memory)
      : tensor_{const_cast<void*>(memory.data), memory.spec}, writable_(false) {}
  // Row-major memory of a device. Rows are staged through host memory.
  Part(const Tensor& memory, const Queue& queue)
      : tensor_(memory), queue_(queue), writable_(true) {}
  // A file with these entries, or with all entries of the tensor: then only this rank's are read.
  Part(const Table& table) : tensor_{nullptr, table.spec()}, table_(table), writable_(false) {}

  const Tensor& tensor() const { return tensor_; }
  const Queue& queue() const { return queue_; }
  const std::optional<Table>& table() const { return table_; }
  bool writable() const { return writable_; }

 private:
  Tensor tensor_;
  Queue queue_;
  std::optional<Table> table_;
  bool writable_;
};

// A tensor whose axis `axis` is split. Copies are cheap and share the transport; where freeing that
// is collective, as MPI's is, so is freeing the last copy.
class ShardedTensor {
 public:
  // `whole` is type and sizes of all of it.
  ShardedTensor(std::shared_ptr<Transport> transport, const TensorSpec& whole, int64_t axis,
                const Split& split, const Part& part);
  // The parts of rank 0, rank 1 and so on, one after the other along the axis.
  ShardedTensor(std::shared_ptr<Transport> transport, int64_t axis, const Part& part);

  // Not collective: a tensor of the same sizes and split, whose part is this one, of its type.
  ShardedTensor with_part(const Part& part) const;

  // Not collective.
  const TensorSpec& spec() const;
  int axis() const;
  const Split& split() const;
  const Part& part() const;
  int rank() const;
  int ranks() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// The same values on every rank.
struct ShardedOptions {
  // What a plan may allocate on a rank, whatever the number of indices. Refused, with the least
  // that is enough, if not even one row per pair of ranks fits.
  int64_t workspace_bytes = int64_t{256} << 20;
  // MPI sends longer messages in pieces; at most 2^30.
  int64_t message_bytes = int64_t{1} << 30;
  // Ranks of one node read the rows of a gather out of each other's memory, where the transport
  // shares some between them: MPI's does if all ranks are on one node. Their bytes are not counted
  // as traffic.
  bool shared_memory = true;
};

// One sharded gather or scatter: planned, with its workspace. Made once, run often; one run at a
// time. Freeing it is collective: all ranks free their plans in the same order.
class ShardedPlan {
 public:
  // A gather into `output`, which has the sizes of output() and is row-major.
  void run(const ConstTensor& indices, const Tensor& output);
  // A scatter into the parts, in place. It does what one process does with the updates of rank 0,
  // then those of rank 1, and so on, each rank's in row-major order.
  void scatter(const ConstTensor& indices, const ConstTensor& updates);

  // The same in two steps. Where the transport works in threads (MPI after MPI_Init_thread with
  // MPI_THREAD_MULTIPLE), a thread of the plan does the work meanwhile; else wait() does all of it.
  // The tensors must stay as they are until then.
  void start(const ConstTensor& indices, const Tensor& output);
  void start_scatter(const ConstTensor& indices, const ConstTensor& updates);
  void wait();

  // Not collective.
  const TensorSpec& output() const;   // of a gather
  const TensorSpec& updates() const;  // of a scatter

  // What the last run moved, on this rank. Not collective.
  struct Traffic {
    int64_t rows = 0;            // that this rank received from others
    int64_t bytes_sent = 0;      // to others: indices and rows
    int64_t bytes_received = 0;  // from others
    int64_t rounds = 0;          // of exchanges
  };
  const Traffic& traffic() const;

  struct State;
  explicit ShardedPlan(std::unique_ptr<State> state);
  ShardedPlan(ShardedPlan&&) noexcept;
  ShardedPlan& operator=(ShardedPlan&&) noexcept;
  ~ShardedPlan();

 private:
  std::unique_ptr<State> state_;
};

// Plans of the operators whose (first) index runs along the split axis: the axis of gather,
// gather_elements and their scatters, axis `batch_dims` of gather_nd and scatter_nd. Each rank
// passes its own indices; operator and options are the same on all.
ShardedPlan plan_gather(const ShardedTensor& data, const TensorSpec& indices,
                        const GatherOptions& = {}, const ShardedOptions& = {});
ShardedPlan plan_gather_elements(const ShardedTensor& data, const TensorSpec& indices,
                                 const GatherElementsOptions& = {}, const ShardedOptions& = {});
ShardedPlan plan_gather_nd(const ShardedTensor& data, const TensorSpec& indices,
                           const GatherNdOptions& = {}, const ShardedOptions& = {});
ShardedPlan plan_scatter(const ShardedTensor& data, const TensorSpec& indices,
                         const TensorSpec& updates, const ScatterOptions& = {},
                         const ShardedOptions& = {});
ShardedPlan plan_scatter_elements(const ShardedTensor& data, const TensorSpec& indices,
                                  const TensorSpec& updates, const ScatterElementsOptions& = {},
                                  const ShardedOptions& = {});
ShardedPlan plan_scatter_nd(const ShardedTensor& data, const TensorSpec& indices,
                            const TensorSpec& updates, const ScatterNdOptions& = {},
                            const ShardedOptions& = {});

// The rows of a tensor that is split along axis 0 as a table (sheaf/table.h): gathers of whole rows
// and bags, with each rank's own indices, output, queue and cache, on the host or on its device;
// prefetch(). Such calls, and freeing the last copy of the table, are collective: every rank makes
// as many, in the same order; what a rank asks for, and in how many pieces, is its own. One rank
// may gather where another bags or prefetches. An error on one is thrown on all of them; a bad
// index before anything is written. finish(), stats() and explain() are not collective. Rows of
// other scatters stay in caches until forget_cached_rows(); run_scatter() is refused.
Table table_of(const ShardedTensor& data, const ShardedOptions& = {});

}  // namespace sheaf::sharded

#pragma GCC visibility pop

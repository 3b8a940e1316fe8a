// SPDX-License-Identifier: MIT
//
// Segments into offsets of the run's own. As many blocks as SegmentFaults has parts: each leaves
// what it finds in a part of its own, so that nothing has to be zeroed before.
#include <algorithm>

#include "backends/cuda/bag/bag.h"
#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/kernel/resolve.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kInFlight = 4;  // offsets of a thread

struct SegmentArgs {
  const std::byte* segments;
  SegmentFaults* faults;
  BagSegments own;
  Kind kind;
  int64_t count, stride;  // of the segments tensor
  int64_t bags, entries;
  int64_t long_limit;
};

// plan/resolve.h's widen() of a segment.
__device__ int64_t segment_at(const SegmentArgs& args, int64_t i) {
  const int64_t raw = load_raw<Indices::kAnyType>(args.kind, args.segments, i * args.stride);
  return args.kind == Kind::kUInt64 && raw < 0 ? INT64_MAX : raw;
}

// The first bad segment that a block has met, and the long bags of its part.
class Findings {
 public:
  __device__ Findings(const SegmentArgs& args, unsigned long long& first, int& long_count)
      : args_(args), first_(first), long_count_(long_count) {
    if (threadIdx.x == 0) {
      first_ = 0;
      long_count_ = 0;
    }
    __syncthreads();
  }
  __device__ void bad(int64_t at, int64_t value) {
    const auto not_first = ~static_cast<unsigned long long>(at);
    if (not_first > mine_) {
      mine_ = not_first;
      value_ = value;
    }
  }
  __device__ void bag(int64_t number, int64_t begin, int64_t end) {
    if (begin >= 0 && end <= args_.entries && end - begin > args_.long_limit) {
      const int slot = atomicAdd(&long_count_, 1);
      args_.own.long_bags[blockIdx.x * args_.own.part_bags + slot] = number;
    }
  }
  // By all threads of the block.
  __device__ void leave() {
    if (mine_ != 0) {
      atomicMax(&first_, mine_);
    }
    __syncthreads();
    if (mine_ == first_ && mine_ != 0) {  // by one thread: no two met the same segment
      args_.faults->value[blockIdx.x] = value_;
    }
    if (threadIdx.x == 0) {
      args_.faults->not_first[blockIdx.x] = first_;
      args_.own.state->long_count[blockIdx.x] = long_count_;
      if (blockIdx.x == 0) {
        args_.own.state->taken = 0;
      }
    }
  }

 private:
  const SegmentArgs& args_;
  unsigned long long& first_;
  int& long_count_;
  unsigned long long mine_ = 0;
  int64_t value_ = 0;
};

// The part of `items` that a block has.
struct Part {
  int64_t begin, end;
  __device__ explicit Part(int64_t items) {
    const int64_t each = (items + kSegmentParts - 1) / kSegmentParts;
    begin = min(blockIdx.x * each, items);
    end = min(begin + each, items);
  }
};

// Offset `at`, or the one that the segments leave out.
template <Indices kIndices>
__device__ int64_t offset_at(const SegmentArgs& args, int64_t at) {
  if (at >= args.count) {
    return args.bags == 0 ? 0 : args.entries;
  }
  const int64_t raw = load_raw<kIndices>(args.kind, args.segments, at * args.stride);
  return args.kind == Kind::kUInt64 && raw < 0 ? INT64_MAX : raw;
}

// A thread reads several offsets before it looks at the first.
template <Indices kIndices>
__global__ void __launch_bounds__(kThreads)
    offsets_kernel(const __grid_constant__ SegmentArgs args) {
  __shared__ unsigned long long first;
  __shared__ int long_count;
  let_next_launch_begin();
  Findings found(args, first, long_count);
  const Part part(args.bags + 1);
  for (int64_t tile = part.begin + threadIdx.x; tile < part.end; tile += kInFlight * kThreads) {
    int64_t before[kInFlight], begin[kInFlight], end[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const int64_t i = min(tile + k * kThreads, part.end - 1);
      before[k] = offset_at<kIndices>(args, max(i - 1, int64_t{0}));
      begin[k] = offset_at<kIndices>(args, i);
      end[k] = offset_at<kIndices>(args, min(i + 1, args.bags));
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const int64_t i = tile + k * kThreads;
      if (i >= part.end) {
        break;
      }
      args.own.offsets[i] = begin[k];
      if (begin[k] > args.entries || (i == 0 ? begin[k] != 0 : begin[k] < before[k])) {
        found.bad(i, begin[k]);
      }
      if (i < args.bags) {
        found.bag(i, begin[k], end[k]);
      }
    }
  }
  found.leave();
}

// Sums of lengths end at one more than there are entries: from there on they are wrong, and no more
// than that matters. Such sums may be formed in any grouping.
struct LengthSum {
  unsigned long long most;  // entries + 1

  __device__ unsigned long long of(int64_t length) const {
    return length < 0 ? most : min(static_cast<unsigned long long>(length), most);
  }
  __device__ unsigned long long add(unsigned long long a, unsigned long long b) const {
    return min(a + b, most);  // both are at most 2^63
  }
};

__device__ unsigned long long add_up_warp(const LengthSum& sum, unsigned long long value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int below = 1; below < 32; below *= 2) {
    const unsigned long long other = __shfl_up_sync(~0U, value, static_cast<unsigned>(below));
    value = lane >= below ? sum.add(value, other) : value;
  }
  return value;
}

// The sums up to and with each thread's value; `warps` is the block's. Ends with a barrier.
__device__ unsigned long long add_up_block(const LengthSum& sum, unsigned long long value,
                                           unsigned long long (&warps)[kWarps],
                                           unsigned long long& total) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  value = add_up_warp(sum, value);
  if (lane == 31) {
    warps[warp] = value;
  }
  __syncthreads();
  unsigned long long before = 0;
  total = 0;
  for (int w = 0; w < kWarps; ++w) {
    before = w < warp ? sum.add(before, warps[w]) : before;
    total = sum.add(total, warps[w]);
  }
  __syncthreads();
  return sum.add(before, value);
}

__global__ void __launch_bounds__(kThreads)
    length_sums_kernel(const __grid_constant__ SegmentArgs args) {
  __shared__ unsigned long long warps[kWarps];
  const LengthSum sum{static_cast<unsigned long long>(args.entries) + 1};
  const Part part(args.bags);
  unsigned long long mine = 0, total = 0;
  for (int64_t i = part.begin + threadIdx.x; i < part.end; i += kThreads) {
    mine = sum.add(mine, sum.of(segment_at(args, i)));
  }
  add_up_block(sum, mine, warps, total);
  if (threadIdx.x == 0) {
    args.own.state->sums[blockIdx.x] = static_cast<int64_t>(total);
  }
}

__global__ void __launch_bounds__(kThreads)
    lengths_kernel(const __grid_constant__ SegmentArgs args) {
  __shared__ unsigned long long first, warps[kWarps];
  __shared__ int long_count;
  let_next_launch_begin();
  Findings found(args, first, long_count);
  const LengthSum sum{static_cast<unsigned long long>(args.entries) + 1};
  unsigned long long before = 0, total = 0;
  for (unsigned part = 0; part < blockIdx.x; ++part) {
    before = sum.add(before, static_cast<unsigned long long>(args.own.state->sums[part]));
  }
  const Part part(args.bags);
  for (int64_t tile = part.begin; tile < part.end; tile += kThreads) {
    const int64_t i = tile + threadIdx.x;
    const int64_t length = i < part.end ? segment_at(args, i) : 0;
    const unsigned long long end = sum.add(before, add_up_block(sum, sum.of(length), warps, total));
    before = sum.add(before, total);
    if (i < part.end) {
      args.own.offsets[i + 1] = static_cast<int64_t>(end);
      if (end == sum.most) {
        found.bad(i, length);
      } else {
        found.bag(i, static_cast<int64_t>(end) - length, static_cast<int64_t>(end));
      }
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    args.own.offsets[0] = 0;
  }
  // A bad length is an earlier segment than this.
  if (threadIdx.x == 0 && blockIdx.x == kSegmentParts - 1 &&
      before != static_cast<unsigned long long>(args.entries)) {
    found.bad(args.count, static_cast<int64_t>(before));
  }
  found.leave();
}

// The first entry whose bag is `bag` or a later one. Within the entries, whatever the ids are.
__device__ int64_t first_of_bag(const SegmentArgs& args, int64_t bag) {
  int64_t low = 0;
  int64_t count = args.count;
  while (count > 0) {
    const int64_t half = count / 2;
    const bool before = segment_at(args, low + half) < bag;
    low = before ? low + half + 1 : low;
    count = before ? count - half - 1 : half;
  }
  return low;
}

__global__ void __launch_bounds__(kThreads) ids_kernel(const __grid_constant__ SegmentArgs args) {
  __shared__ unsigned long long first;
  __shared__ int long_count;
  let_next_launch_begin();
  Findings found(args, first, long_count);
  const Part entries(args.count);
#pragma unroll 4
  for (int64_t i = entries.begin + threadIdx.x; i < entries.end; i += kThreads) {
    const int64_t id = segment_at(args, i);
    const int64_t before = i > 0 ? segment_at(args, i - 1) : 0;
    if (id < 0 || id >= args.bags || id < before) {
      found.bad(i, id);
    }
  }
  const Part bags(args.bags + 1);
  for (int64_t bag = bags.begin + threadIdx.x; bag < bags.end; bag += kThreads) {
    const int64_t begin = first_of_bag(args, bag);
    args.own.offsets[bag] = begin;
    if (bag < args.bags && args.count > args.long_limit) {
      found.bag(bag, begin, first_of_bag(args, bag + 1));
    }
  }
  found.leave();
}

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t part_bags(const BagNest& nest) { return nest.bags / kSegmentParts + 1; }

}  // namespace

size_t bag_bytes(const BagNest& nest) {
  if (nest.per_bag >= 0) {
    return 0;
  }
  return aligned(sizeof(BagSegments::State)) +
         aligned(sizeof(int64_t) * static_cast<size_t>(nest.bags + 1)) +
         aligned(sizeof(int64_t) * static_cast<size_t>(part_bags(nest) * kSegmentParts));
}

BagSegments bag_segments(const BagNest& nest, std::byte* workspace) {
  BagSegments segments;
  segments.state = reinterpret_cast<BagSegments::State*>(workspace);
  workspace += aligned(sizeof(BagSegments::State));
  segments.offsets = reinterpret_cast<int64_t*>(workspace);
  workspace += aligned(sizeof(int64_t) * static_cast<size_t>(nest.bags + 1));
  segments.long_bags = reinterpret_cast<int64_t*>(workspace);
  segments.part_bags = part_bags(nest);
  return segments;
}

void launch_segments(const BagNest& nest, const BagBuffers& buffers, const BagSegments& segments,
                     int64_t long_limit, Stream stream) {
  const SegmentArgs args{buffers.segments, buffers.faults,      segments,  nest.segment_type.kind(),
                         nest.segments,    nest.segment_stride, nest.bags, nest.entries,
                         long_limit};
  switch (nest.form) {
    case SegmentForm::kOffsets:
      with_indices(args.kind, [&](auto indices) {
        offsets_kernel<indices()><<<kSegmentParts, kThreads, 0, stream>>>(args);
      });
      break;
    case SegmentForm::kLengths:
      length_sums_kernel<<<kSegmentParts, kThreads, 0, stream>>>(args);
      lengths_kernel<<<kSegmentParts, kThreads, 0, stream>>>(args);
      break;
    case SegmentForm::kIds: ids_kernel<<<kSegmentParts, kThreads, 0, stream>>>(args); break;
  }
}

void check_segments(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  launch_segments(nest, buffers, bag_segments(nest, launch.workspace), INT64_MAX,
                  static_cast<Stream>(launch.stream));
}

}  // namespace sheaf::cuda

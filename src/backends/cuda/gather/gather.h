// SPDX-License-Identifier: MIT
//
// The gather kernels of this backend, file by file: each has a refusal and a run for the table in
// backend.cc. A run launches and returns; CUDA errors are checked once, at its end.
#pragma once

#include "backends/cuda/device.h"
#include "backends/cuda/kernel/nest.h"
#include "execution/backend.h"

namespace sheaf::cuda {

// A gather on device pointers.
struct GatherCall {
  const Nest& nest;
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* check;  // of an earlier check: if bad, nothing is written; may be null
  Verdict* report;       // receives bad indices met while moving; null: none can be bad
  Stream stream;
  std::byte* workspace = nullptr;
};

inline GatherCall gather_call(const Nest& nest, const GatherBuffers& buffers,
                              const Launch& launch) {
  return {nest,
          buffers.data,
          buffers.indices,
          buffers.output,
          launch.check_while_moving ? nullptr : launch.verdict,
          launch.verdict,
          static_cast<Stream>(launch.stream),
          launch.workspace};
}

// rows.cu: words of rows of any size. `small` checks all indices first, in every block.
const char* small_refusal(const KernelQuery& query);
const char* rows_refusal(const KernelQuery& query);
const char* strided_refusal(const KernelQuery& query);
bool run_small(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
bool run_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
void launch_rows(const GatherCall& call);

// odd_rows.cu: rows at odd addresses by wide words, where cuda.rows would take narrow ones.
const char* odd_rows_refusal(const KernelQuery& query);
bool run_odd_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// lookup.cu: the entries that an innermost loop of indices chooses from are copied to shared memory
// first. `lookup`: every row is chosen from by the same indices; `elements`: each has its own.
const char* lookup_refusal(const KernelQuery& query);
const char* elements_refusal(const KernelQuery& query);
bool run_lookup(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// long_rows.cu: the same for longer rows, of which a part is copied to shared memory.
const char* long_rows_refusal(const KernelQuery& query);
bool run_long_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// Why indices do not choose among rows, column by column, often enough to make strips of columns of
// the innermost loop; null if they do.
const char* choosing_columns_refusal(const KernelQuery& query);

// held_columns.cu: narrow strips, each with its part of data in shared memory.
const char* held_columns_refusal(const KernelQuery& query);
bool run_held_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);

// columns.cu: wide strips, each with its part of data packed for L2.
const char* columns_refusal(const KernelQuery& query);
bool run_columns(const Nest& nest, const GatherBuffers& buffers, const Launch& launch);
size_t columns_bytes(const Nest& nest, int threads);

// encoded.cu: every gather of an encoded table.
const char* encoded_refusal(const EncodedNest& nest);
bool run_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch);

// copy.cu: Backend::copy
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);

// check.cu: Backend::check, DeviceSteps::complete_verdict and DeviceSteps::wait
bool check(const Plan& plan, const std::byte* indices, const Launch& launch);
void complete_verdict(const Plan& plan, const std::byte* indices, const Launch& launch);
Verdict wait(const Verdict* verdict, void* stream);

// plan/index_order.h as a kernel takes it.
struct CheckArgs {
  AnyNest order;
  const std::byte* indices;
  int64_t count, repeats, inner, components;
  Verdict* verdict;
  bool only_if_met;  // only if a kernel has reported a bad index

  // Whether the indices follow one another in memory.
  bool in_line() const {
    return order.any_loops == 0 || (order.any_loops == 1 && order.loops[0].index == 1);
  }
};
CheckArgs check_args(const Plan& plan, const std::byte* indices, Verdict* verdict);

// All strides between the words of two rows, ORed: they determine the alignment.
uint64_t stride_bits(const Nest& nest);

// The widest word, up to 16 bytes, by which rows at these ORed addresses can be moved.
int word_bytes(const Nest& nest, uintptr_t addresses);

inline uintptr_t addresses_of(const GatherCall& call) {
  return reinterpret_cast<uintptr_t>(call.data) | reinterpret_cast<uintptr_t>(call.output);
}

}  // namespace sheaf::cuda

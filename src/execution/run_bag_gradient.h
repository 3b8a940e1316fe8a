// SPDX-License-Identifier: MIT
//
// The parts of running a gradient: rows that are summed by the kernels of bags
// (run_bag_gradient.cc), rows of max and min (picked_rows.cc), weights (weight_gradient.cc).
#pragma once

#include <string_view>

#include "execution/entry_table.h"

namespace sheaf {

struct GradientRun {
  const BagGradientPlan& plan;
  const EntryTable& table;
  const BagGradientMemory& memory;
  BagRequest request;  // for refusals
  EncodedRows gradient_rows;
  Queue queue;
  std::string_view kernel = {};  // of the bag that sums rows; empty: the first that accepts

  const BagNest& nest() const { return table.bag.nest(); }
  EncodedMemory gradient() const { return {static_cast<const std::byte*>(memory.gradient)}; }
  EncodedMemory data() const {
    return {static_cast<const std::byte*>(memory.bag.stored),
            static_cast<const std::byte*>(memory.bag.scales),
            static_cast<const std::byte*>(memory.bag.zeros)};
  }
  const std::byte* weights() const { return static_cast<const std::byte*>(memory.bag.weights); }
};

// Refuses null pointers, and results that overlap an input or one another. `rows`: of kRows.
void check_gradient_memory(const BagGradientPlan& plan, const BagGradientMemory& memory,
                           const BagRequest& request, const TensorSpec& output, int64_t rows);

// Rows to write: `begins` says where the entries of each begin in table.order, and behind them
// where those of the last end.
struct WantedRows {
  const int64_t* begins;
  int64_t count;
  TensorSpec spec;  // [count, …]
  std::byte* output;
};

// Which entry has each element of a bag's max or min: [bags, elements]; -1 in bags without rows.
Numbers picked_entries(const GradientRun& run);
void write_picked_rows(const GradientRun& run, const int64_t* picked, const WantedRows& wanted);

// `picked`: under max and min; else null.
void write_weight_gradient(const GradientRun& run, const int64_t* picked);

}  // namespace sheaf

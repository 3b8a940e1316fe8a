// SPDX-License-Identifier: MIT
//
// What a device has for gradients of bags. Rows that are sums are themselves bags: of the
// gradient's rows, with the entries that name a row as the bag, and their factors as weights. So a
// device orders the entries, and its kernels for bags do the rest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution/bag_kernel.h"
#include "plan/bag_gradient.h"

namespace sheaf {

struct Launch;

struct GradientNest {
  BagNest bag;
  BagGradientOf of = BagGradientOf::kRows;
  bool add = false;
  EncodedRows gradient;  // of the bag's output
  EncodedRows output;    // kRows, kData: rows of the result
  EntryPlaces places;    // kWeights: the result
  DType output_type = f32;
  // Rows that the sums are made for, one after the other: those that entries name, of which there
  // may be as many (kRows, and kData with add), or all of the table.
  int64_t rows = 0;

  bool compressed() const { return of == BagGradientOf::kRows || add; }
};

struct GradientBuffers {
  BagBuffers bag;
  const std::byte* gradient;
  // How many rows entries name; the device's.
  int64_t* named;
  int64_t* rows;      // kRows: their numbers; behind the last of them -1
  std::byte* output;  // rows of sums, or weights
};

// The entries by row, in the workspace of the steps.
struct GradientLists {
  int64_t* bags = nullptr;       // [entries]: the bag of each; under max and min the entry itself
  std::byte* factors = nullptr;  // [entries] of the computed type; null: they have none
  int64_t* begins = nullptr;     // [rows + 1]: where the entries of each row begin. What no bag of
                                 // this size can have where segments or indices are bad.
  int64_t* rows = nullptr;       // [rows], where they are compressed
};

// Steps are enqueued. They write nothing but their workspace and `named` if the segments or the
// indices are bad.
struct BagGradientSteps {
  // Why this device cannot make the gradient; null if it can.
  const char* (*refusal)(const GradientNest& nest);
  size_t (*workspace_bytes)(const GradientNest& nest);
  // Where order() leaves its lists.
  GradientLists (*lists)(const GradientNest& nest, std::byte* workspace);
  // First: checks the segments, and finds the bag of each entry. Under max and min, also the entry
  // that each element of a bag came from.
  void (*read)(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
  // After read(), for rows: makes the lists.
  void (*order)(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
  // After order(), under max and min: rows of sums.
  void (*sum_picked)(const GradientNest& nest, const GradientBuffers& buffers,
                     const Launch& launch);
  // After order(), with add: adds rows of sums to those of the table.
  void (*add)(const GradientNest& nest, const GradientBuffers& buffers, const std::byte* sums,
              const Launch& launch);
  // After read(): the gradient of the weights.
  void (*weights)(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
};

}  // namespace sheaf

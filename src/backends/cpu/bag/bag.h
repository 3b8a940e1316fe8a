// SPDX-License-Identifier: MIT
//
// The bags of the cpu backend. bag.cc: rows that are joined in f32 by vectors. bag_rows.cc: every
// other bag, row by row.
#pragma once

#include <atomic>

#include "backends/cpu/parallel.h"
#include "execution/backend.h"
#include "execution/bag_entries.h"

namespace sheaf::cpu {

const char* pooled_refusal(const BagNest& nest);
BagEnd run_pooled(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);
const char* bag_rows_refusal(const BagNest& nest);
BagEnd run_bag_rows(const BagNest& nest, const BagBuffers& buffers, const Launch& launch);

// encoded.cc: gathers of encoded tables.
const char* encoded_refusal(const EncodedNest& nest);
bool run_encoded(const EncodedNest& encoded, const EncodedBuffers& buffers, const Launch& launch);

inline EntryRange entries_of(const BagNest& nest, const BagBuffers& buffers, int64_t s) {
  return sheaf::entries_of(nest, buffers.offsets, s);
}

// Bags [begin, end) that one thread pools.
struct BagRange {
  int64_t begin, end;
};
// Piece `piece` of `pieces` with about as many entries and bags as the others have.
BagRange bags_of_piece(const BagNest& nest, const BagBuffers& buffers, int64_t piece,
                       int64_t pieces);

}  // namespace sheaf::cpu

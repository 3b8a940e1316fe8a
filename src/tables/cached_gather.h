// SPDX-License-Identifier: MIT
//
// Gathers of whole rows of which some stay on the device:
//   find    the slots of all rows that are there, on the device if it has kernels for that
//   place   those into the output, by one kernel
//   fetch   the others in pieces, as the ring does; a kernel places them, and puts those that are
//           admitted into their slots
// The output has the same bytes with every cache.
#pragma once

#include "tables/row_delivery.h"

namespace sheaf::tables {

// Whether rows of this call can be cached, and are.
bool uses_cache(const Call& call);

// Both hold the lane's mutex.
TableStats run_cached(const Call& call, Lane& lane);
// Rows that the cache lacks, as many as it has slots for. Indices that name no row are left out.
TableStats prefetch_cached(const Call& call, Lane& lane);

}  // namespace sheaf::tables

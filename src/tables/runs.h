// SPDX-License-Identifier: MIT
//
// The runs of the ways.
#pragma once

#include "tables/ways.h"

namespace sheaf::tables {

class Lane;

// The plan itself, on host memory.
TableStats run_on_host(const Call& call);
// The plan itself, on memory that the queue's device reads.
TableStats run_on_device(const Call& call);
TableStats run_mapped(const Call& call);
// Rows are fetched to the host, and travel in pieces.
TableStats run_ring(const Call& call);
// Some pieces as the ring's, and some as mapped.
TableStats run_split(const Call& call);
// The same of a file whose rows can come in any order, while the lane's mutex is held.
TableStats run_in_file_order(const Call& call, Lane& lane);
// Rows into the lane's cache, or into that of the file.
TableStats prefetch_ring(const Call& call);
// From a file into host memory; on a device, the ring.
TableStats run_file(const Call& call);
// From a device to the host, in pieces.
TableStats run_download(const Call& call);

// From several ranks into host memory; on a device, the ring.
TableStats run_sharded(const Call& call);

}  // namespace sheaf::tables

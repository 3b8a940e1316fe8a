// SPDX-License-Identifier: MIT
//
// Scatters into tables, and the ways that updates take.
#pragma once

#include "tables/lane.h"
#include "tables/ways.h"

namespace sheaf::tables {

// One scatter into a table, which is its data and its output.
struct ScatterCall {
  const Plan& plan;
  const Table& table;
  const Queue& queue;
  const Backend* device;  // of the queue; null: the host
  const void* indices = nullptr;
  const void* updates = nullptr;
  IndexPlace place = IndexPlace::kQueue;  // of both

  bool inputs_travel() const { return device != nullptr && place == IndexPlace::kQueue; }
};

// By the host, into host memory; inputs on a device come in pieces.
TableStats scatter_on_host(const ScatterCall& call);
// By a kernel of the queue's device, into its memory.
TableStats scatter_on_device(const ScatterCall& call);
// By a kernel of the table's device, for a queue of the host.
TableStats scatter_by_upload(const ScatterCall& call);
// Into the table's file.
TableStats scatter_into_file(const ScatterCall& call);

// What explain() and table_ways() say of a scatter.
std::vector<WayReport> scatter_ways(const ScatterCall& call);
std::string explain_scatter(const ScatterCall& call);

}  // namespace sheaf::tables

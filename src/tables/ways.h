// SPDX-License-Identifier: MIT
//
// The ways that rows take, and which of them takes a call.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "execution/backend.h"
#include "sheaf/table.h"

namespace sheaf::tables {

// One gather on a table.
struct Call {
  const Plan& plan;
  const Table& table;
  const Queue& queue;
  const Backend* device;  // of the queue; null: the host
  const void* indices = nullptr;
  void* output = nullptr;
  IndexPlace index_place = IndexPlace::kQueue;
  // Not null: `plan` is its gather of decoded rows.
  const EncodedGatherPlan* encoded = nullptr;
  // Not null: `plan` gathers single rows of it.
  const BagPlan* bag = nullptr;
};

struct Way {
  std::string_view name;
  std::string (*refusal)(const Call& call);    // why it cannot run; empty if it can
  std::string (*not_worth)(const Call& call);  // why another is better; null: it has no such cases
  TableStats (*run)(const Call& call);
};

// Of a table, in the order in which they are asked.
std::span<const Way> ways_of(const Table& table);

// What a way says to a call, where none is forced.
std::string answer(const Way& way, const Call& call);

// The figures that decide between the ways of host memory, as a line of explain(); empty where
// there is nothing to decide.
std::string decided_by(const Call& call);

// The first that takes the call, or the one that the table's options force. Throws if none does.
const Way& choose_way(const Call& call);
// The same; null if none does.
const Way* find_way(const Call& call);

}  // namespace sheaf::tables

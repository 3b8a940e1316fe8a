// SPDX-License-Identifier: MIT
//
// A bag cut into pieces of whole bags, each a bag of its own on the few rows that it names.
#pragma once

#include <memory>
#include <vector>

#include "execution/backend.h"
#include "sheaf/table.h"
#include "tables/distinct_rows.h"

namespace sheaf::tables {

// Indices, segments and weights of a call, copied to the host: each is read once.
class BagInputs {
 public:
  // Throws what a run of the plan would throw.
  BagInputs(const BagPlan& plan, const BagMemory& memory, const Backend* device, void* stream);

  int64_t row(int64_t entry) const;  // kOutside: a filled one. kLeftOut: none
  const std::byte* weight(int64_t entry) const;
  const int64_t* offsets() const { return offsets_.get(); }

 private:
  const std::byte* copied(const void* memory, const TensorSpec& spec, const Backend* device);

  const BagPlan& plan_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
  const std::byte* indices_ = nullptr;
  const std::byte* weights_ = nullptr;
  std::unique_ptr<int64_t[]> offsets_;
};

struct BagPiece {
  int64_t first_bag = 0, bags = 0;
  std::vector<int64_t> numbers;    // of each entry: which of the rows, or -1
  std::vector<int64_t> offsets;    // of the bags, and the end of the last
  std::vector<std::byte> weights;  // of each entry
  DistinctRows rows;               // by their numbers in the table
};

class BagPieces {
 public:
  // At most `most_rows` distinct rows in a piece of more than one bag.
  BagPieces(const BagPlan& plan, const BagInputs& inputs, int64_t most_rows);
  bool next(BagPiece& piece);

 private:
  void add_bag(int64_t bag, BagPiece& piece) const;

  const BagPlan& plan_;
  const BagInputs& inputs_;
  int64_t most_rows_;
  int64_t bag_ = 0;
};

// Bytes of an entry of the table; rows lie side by side. Refuses a plan whose rows do not.
int64_t entry_bytes(const BagPlan& plan);

// The piece as a plan: data has `rows` rows, indices i64, offsets i64 with the last.
BagPlan plan_of_bags(const BagPlan& plan, const BagPiece& piece, int64_t rows);

}  // namespace sheaf::tables

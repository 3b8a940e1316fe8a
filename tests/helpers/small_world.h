// SPDX-License-Identifier: MIT
//
// The exhaustive small world: every index rule and every filling of the indices of one problem, on
// every kernel of a machine that accepts it, against the oracle.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "helpers/machine.h"
#include "helpers/oracle.h"
#include "sheaf/sheaf.h"

// All shapes of the ranks and extents given, both ends included.
std::vector<oracle::Shape> shapes(int64_t low_rank, int64_t high_rank, int64_t high_extent);

// Indices with the values -4 to 4: every combination of them where there are at most
// `all_combinations_up_to` indices; where there are more, runs that start at each value and go on
// in steps of 1, 2 and 4 (27 fillings: each value stands in each position three times). `thin`
// takes one step a problem, in turn.
class Fillings {
 public:
  using Filling = std::vector<oracle::Wide>;

  explicit Fillings(size_t all_combinations_up_to, bool thin = false)
      : full_(all_combinations_up_to), thin_(thin) {}

  // Calls visit(filling) for those of `count` indices.
  template <class Visit>
  void each(size_t count, int64_t problem, Visit visit) {
    const std::vector<Filling>& list = all(count);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!thin_ || count <= full_ || i / kValues == static_cast<size_t>(problem) % 3) {
        visit(list[i]);
      }
    }
  }

 private:
  static constexpr size_t kValues = 9;
  const std::vector<Filling>& all(size_t count);

  size_t full_;
  bool thin_;
  std::map<size_t, std::vector<Filling>> fillings_;
};

// Index values in memory, packed.
std::vector<uint8_t> index_bytes(const std::vector<oracle::Wide>& values, sheaf::DType type);

class SmallWorld {
 public:
  SmallWorld(const Machine& machine, size_t all_combinations_up_to, bool thin = false)
      : machine_(machine), fillings_(all_combinations_up_to, thin) {}

  // Plans and runs `problem` with every rule and filling. Reports what differs from the oracle.
  void check(oracle::Problem problem);

  // How much was looked at, so that a test can show that it was not nothing.
  int64_t refused_shapes() const { return refused_shapes_; }
  int64_t refused_indices() const { return refused_indices_; }
  int64_t answered() const { return answered_; }

  // True after so many failures that more would not help.
  bool gave_up() const { return failures_ >= 5; }

 private:
  struct Run;

  void check_rule(oracle::Problem& problem);
  void check_filling(const oracle::Problem& problem, const Run& run);
  void check_refused_shape(const oracle::Problem& problem);
  void check_empty_axis(const oracle::Problem& problem, const sheaf::IndexError& error);
  void fail(const oracle::Problem& problem, const std::string& what);

  const Machine& machine_;
  Fillings fillings_;
  uint64_t fillings_seen_ = 0;
  int64_t refused_shapes_ = 0, refused_indices_ = 0, answered_ = 0, failures_ = 0, problems_ = 0;
};

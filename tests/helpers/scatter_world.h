// SPDX-License-Identifier: MIT
//
// The exhaustive small world of scatters: every index rule and every filling of the indices of one
// problem, on every kernel of a machine that accepts it, against the oracle. The reductions, with
// and without the old value, onto data and onto zeros, on i32 and f32, in and out of place, and the
// numbers of threads take turns from filling to filling; `all_joinings` tries every reduction on
// each.
#pragma once

#include <cstdint>
#include <string>

#include "helpers/machine.h"
#include "helpers/oracle.h"
#include "helpers/scatter_oracle.h"
#include "helpers/small_world.h"
#include "sheaf/sheaf.h"

class ScatterWorld {
 public:
  ScatterWorld(const Machine& machine, size_t all_combinations_up_to, bool thin = false,
               bool all_joinings = false)
      : machine_(machine), fillings_(all_combinations_up_to, thin), all_joinings_(all_joinings) {}

  void check(oracle::Problem problem);

  int64_t refused_shapes() const { return refused_shapes_; }
  int64_t refused_indices() const { return refused_indices_; }
  int64_t answered() const { return answered_; }
  bool gave_up() const { return failures_ >= 5; }

 private:
  struct Call;

  void check_filling(const oracle::Problem& problem, const oracle::Answer& answer);
  void check_call(const oracle::Problem& problem, const oracle::Answer& answer, const Call& call);
  void fail(const oracle::Problem& problem, const std::string& what);

  const Machine& machine_;
  Fillings fillings_;
  bool all_joinings_;
  uint64_t fillings_seen_ = 0, turn_ = 0;
  int64_t refused_shapes_ = 0, refused_indices_ = 0, answered_ = 0, failures_ = 0, problems_ = 0;
};

// SPDX-License-Identifier: MIT
//
// The indices of a call as the host sees them: a copy, checked. Each of the caller's is read once.
#pragma once

#include "tables/lane.h"
#include "tables/ways.h"

namespace sheaf::tables {

class HostIndices {
 public:
  // The copy is in memory of the lane, until its next call. Waits for the queue if the indices are
  // on its device. Throws IndexError under kFail; also under kTrust, since a wrong index must not
  // lead out of the table.
  HostIndices(const Call& call, Lane& lane);

  const Plan& plan() const { return plan_; }
  const std::byte* data() const { return data_; }

 private:
  Plan plan_;  // the same call, on the copy
  const std::byte* data_ = nullptr;
};

// Throws IndexError if one of the indices, which are on the host, is bad. On at most `threads`
// threads; 0: as many as pay.
void check_on_host(const Plan& plan, const std::byte* indices, int threads);

}  // namespace sheaf::tables

// SPDX-License-Identifier: MIT
//
// The indices of a call as the host sees them: a copy, checked. Each of the caller's is read once.
#pragma once

#include <optional>

#include "io/own_indices.h"
#include "tables/ways.h"

namespace sheaf::tables {

class HostIndices {
 public:
  // Waits for the queue if they are on its device. Throws IndexError under kFail; also under
  // kTrust, since a wrong index must not lead out of the table.
  explicit HostIndices(const Call& call);

  const Plan& plan() const { return own_->plan(); }
  const std::byte* data() const { return static_cast<const std::byte*>(own_->data()); }

 private:
  std::optional<io::OwnIndices> own_;
};

}  // namespace sheaf::tables

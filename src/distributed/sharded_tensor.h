// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "distributed/group.h"
#include "sheaf/sharded.h"

namespace sheaf::sharded {

struct ShardedTensor::State {
  std::shared_ptr<const distributed::Group> group;
  TensorSpec whole;  // row-major: no rank has all of it
  int axis;
  Split split;
  Part part;
};

}  // namespace sheaf::sharded

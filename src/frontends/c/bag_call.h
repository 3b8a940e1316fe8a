// SPDX-License-Identifier: MIT
//
// From the tables, tensors and options of sheaf/c_bags.h to a BagRequest.
#pragma once

#include "frontends/c/dlpack.h"
#include "plan/bag.h"
#include "plan/request.h"
#include "sheaf/c.h"

namespace sheaf {

// A table and where its parts are, as far as they have memory.
Encoded read_table(const sheaf_table* table, std::string_view call, Placement& placement);

struct CBag {
  BagRequest request;
  BagMemory memory;  // without the output
  Placement placement;
};
CBag read_bag(const sheaf_bag_tensors* tensors, const sheaf_bag_options* options);

// The tensors alone: `bag` has the options already, or a plan has.
void read_bag_tensors(const sheaf_bag_tensors* tensors, CBag& bag);

// Of a table that lies elsewhere: the tensors' data is NULL.
CBag read_bag_of(const EncodedSpec& data, const sheaf_bag_tensors* tensors,
                 const sheaf_bag_options* options);

// With an output, that tensor's type unless the options say another.
BagPlan plan_of_bag(CBag& bag, const TensorSpec* output);

// The output of a bag, or another tensor of it. Null is refused.
Tensor read_required(const DLTensor* tensor, const char* name, CBag& bag);

}  // namespace sheaf

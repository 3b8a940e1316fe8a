// SPDX-License-Identifier: MIT
#include "io/planned_table.h"

#include "support/text.h"

namespace sheaf::io {

std::string difference_of(const EncodedSpec& planned, const Table& table) {
  const EncodedSpec& held = table.info().encoded;
  const bool is_plain = held.encoding == Encoding::kPlain;
  const TensorSpec& bytes = is_plain ? table.spec() : held.stored;
  const Dims& sizes = is_plain ? table.spec().sizes : held.sizes;
  if (planned.encoding != held.encoding || planned.sizes != sizes) {
    return cat("the plan is for ", planned.str(), ", but the table is ",
               is_plain ? bytes.str() : held.str());
  }
  // Rows at another distance would be read outside the table.
  if (planned.stored != bytes) {
    return cat("the plan is for ", is_plain ? "" : "bytes ", planned.stored.str(),
               is_plain ? ", but the table is " : ", but those of the table are ", bytes.str());
  }
  return {};
}

}  // namespace sheaf::io

// SPDX-License-Identifier: MIT
//
// Running a gather: the last checks, then the first kernel that accepts.
#include "backends/registry.h"
#include "plan/index_error.h"
#include "plan/refuse.h"

namespace sheaf {

void Plan::run(const void* data_memory, const void* indices_memory, void* output_memory,
               const RunOptions& options) const {
  check_memory(data_memory, indices_memory, output_memory);
  const Choice<Buffers> choice = choose_gather(*this, options);
  const Buffers buffers{static_cast<const std::byte*>(data_memory),
                        static_cast<const std::byte*>(indices_memory),
                        static_cast<std::byte*>(output_memory)};
  if (nest_.out_of_range == OutOfRange::kFail &&
      !choice.backend->all_in_range(nest_, buffers.indices, options.threads)) {
    throw_first_bad_index(*this, indices_memory);
  }
  if (!nest_.empty()) {
    choice.kernel->run(nest_, buffers, options.threads);
  }
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const Tensor& output_tensor, const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, output_tensor.data, options);
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const ConstTensor& updates_tensor, const Tensor& output_tensor,
               const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "updates", updates_tensor.spec, updates());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, updates_tensor.data, output_tensor.data, options);
}

}  // namespace sheaf

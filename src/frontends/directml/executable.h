// SPDX-License-Identifier: MIT
//
// A compiled operator: what CreateOperator decided, and what it does with bindings.
#pragma once

#include "frontends/directml/descriptors.h"
#include "sheaf/directml.h"
#include "sheaf/plan.h"

namespace sheaf::dml::detail {

// What a tensor asks of its binding.
struct BoundTensor {
  explicit BoundTensor(const TensorDesc& tensor)
      : name(tensor.name),
        total_bytes(tensor.total_bytes),
        required_bytes(tensor.required_bytes),
        alignment(tensor.alignment),
        owned(tensor.owned) {}

  const char* name;
  UINT64 total_bytes, required_bytes, alignment;
  bool owned;
  UINT64 persistent_offset = 0;  // where an owned tensor lies in the persistent resource
};

inline constexpr UINT kMaxInputs = 3;

class Executable {
 public:
  // Refuses owned inputs that no persistent resource could hold.
  Executable(const Plan& plan, const Tensors& tensors);

  const Plan& plan() const { return plan_; }
  UINT64 persistent_bytes() const { return persistent_bytes_; }

  // Copies the owned inputs into the persistent resource.
  void initialize(const Bindings& bindings, const Queue& queue) const;

  // Checks the bindings, then runs the plan; on a device, starts it.
  void dispatch(const Bindings& bindings, const Queue& queue) const;

 private:
  const DML_BINDING_DESC* input_bindings(const Bindings& bindings) const;
  void refuse_output_in(const std::byte* persistent, const std::byte* output) const;
  std::byte* persistent_memory(const Bindings& bindings, bool written) const;

  Plan plan_;
  UINT input_count_;
  BoundTensor inputs_[kMaxInputs];  // InputTensor, IndicesTensor, UpdatesTensor of a scatter
  BoundTensor output_;
  UINT64 persistent_bytes_ = 0;
};

}  // namespace sheaf::dml::detail

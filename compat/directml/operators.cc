// SPDX-License-Identifier: MIT
//
// Operator descriptors into programs. Gathers and scatters take the way of the front end.
#include "descriptor_reader.h"
#include "execution/registry.h"
#include "frontends/directml/request.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

using dml::detail::OperatorDesc;

// "DML_OPERATOR_GEMM"; the number alone if there is no such operator.
std::string operator_name(DML_OPERATOR_TYPE type) {
  switch (type) {
#define SHEAF_DML_OPERATOR_NAME(name, number) \
  case DML_OPERATOR_##name: return "DML_OPERATOR_" #name;
    SHEAF_DML_OPERATORS(SHEAF_DML_OPERATOR_NAME)
#undef SHEAF_DML_OPERATOR_NAME
  }
  return cat("Type = ", static_cast<int>(type));
}

std::shared_ptr<const Program> index_operator(const DML_OPERATOR_DESC* desc,
                                              const dml::DeviceOptions& options) {
  const OperatorDesc op =
      dml::detail::read_operator(reinterpret_cast<const dml::DML_OPERATOR_DESC*>(desc), options);
  const dml::detail::Tensors tensors = dml::detail::read_tensors(op);
  const bool scatter = is_scatter(op.info->op);
  const Plan plan = dml::detail::operator_plan(op, tensors);
  std::vector<Slot> inputs{slot_of(tensors.input, tensors.input.name),
                           slot_of(tensors.indices, tensors.indices.name)};
  moves::Work work{[plan](auto in, auto out, const Queue& queue) {
                     moves::run_plan(plan, in[0], in[1], out[0], queue);
                   },
                   true};
  if (scatter) {
    inputs.push_back(slot_of(tensors.updates, tensors.updates.name));
    work.run = [plan](auto in, auto out, const Queue& queue) {
      moves::run_plan(plan, in[0], in[1], in[2], out[0], queue);
    };
  }
  return std::make_shared<const SingleOperator>(
      op.info->name, std::move(inputs),
      std::vector<Slot>{slot_of(tensors.output, tensors.output.name)}, std::move(work),
      Sharing::kOperator);
}

}  // namespace

void Program::place_owned() {
  for (Slot& slot : inputs_) {
    if (slot.owned) {
      slot.persistent_offset = persistent_bytes_;
      constexpr UINT64 kAlignment = DML_PERSISTENT_BUFFER_ALIGNMENT;
      const auto rounded = checked_round_up(slot.required_bytes, kAlignment);
      const auto sum = rounded ? checked_add(persistent_bytes_, *rounded) : std::nullopt;
      persistent_bytes_ = sum.value_or(UINT64_MAX);
      if (persistent_bytes_ > INT64_MAX) {
        dml::detail::refuse({.who = name_,
                             .what = "tensors too large",
                             .detail = "the inputs that are OWNED_BY_DML need more than 2^63 - 1 "
                                       "bytes together",
                             .given = slot.name,
                             .next = "fewer inputs that are OWNED_BY_DML"});
      }
    }
  }
}

void SingleOperator::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                         std::byte*, const Queue& queue) const {
  if (queue.device.empty() || work_.only_plans) {
    work_(inputs, outputs, queue);
  } else {
    run_staged(inputs, outputs, queue);
  }
}

void SingleOperator::run_staged(std::span<const void* const> inputs, std::span<void* const> outputs,
                                const Queue& queue) const {
  const DeviceSteps& device = *device_backend(queue.device).device;
  const auto copy_of = [&](const void* memory, const Slot& slot) {
    std::vector<std::byte> copy(static_cast<size_t>(slot.required_bytes));
    if (!copy.empty()) {
      device.download(copy.data(), memory, copy.size());
    }
    return copy;
  };
  std::vector<std::vector<std::byte>> read, written;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (size_t i = 0; i < inputs.size(); ++i) {
    read.push_back(copy_of(inputs[i], inputs_[i]));
    from.push_back(read.back().data());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {  // bytes that are not written stay as they are
    written.push_back(copy_of(outputs[i], outputs_[i]));
    to.push_back(written.back().data());
  }
  work_(from, to);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!written[i].empty()) {
      device.upload(outputs[i], written[i].data(), written[i].size());
    }
  }
}

std::shared_ptr<const Program> read_program(const DML_OPERATOR_DESC* desc,
                                            const dml::DeviceOptions& options) {
  if (desc == nullptr ||
      dml::detail::find_operator(static_cast<dml::DML_OPERATOR_TYPE>(desc->Type)) != nullptr) {
    return index_operator(desc, options);
  }
  if (auto program = read_neighbour(*desc, options)) {
    return program;
  }
  const bool known = find_neighbour(desc->Type) != nullptr;
  dml::detail::refuse({.who = "CreateOperator",
                       .what = known ? "null pointer" : "no such operator",
                       .detail = cat(operator_name(desc->Type),
                                     known ? " has a null Desc" : " does not only move data"),
                       .given = cat("device of ", dml::detail::level_name(options.feature_level)),
                       .next = known ? "pass the operator's own descriptor"
                                     : "the operators that docs/directml.md lists"});
}

}  // namespace sheaf::dml_com

// SPDX-License-Identifier: MIT
//
// Reads the tensors of one operator that is no gather or scatter, checks them against what its
// feature level takes, and makes its program.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/directml/refusal.h"
#include "neighbour_levels.h"
#include "program.h"

namespace sheaf::dml_com {

// An operator by itself.
class SingleOperator final : public Program {
 public:
  SingleOperator(const char* name, std::vector<Slot> inputs, std::vector<Slot> outputs,
                 moves::Work work, Sharing sharing)
      : Program(name), work_(std::move(work)) {
    sharing_ = sharing;
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
    place_owned();
  }
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::byte*,
           const Queue& queue) const override;

 private:
  // On host memory, with copies of the tensors, for work that is not a plan.
  void run_staged(std::span<const void* const> inputs, std::span<void* const> outputs,
                  const Queue& queue) const;

  moves::Work work_;
};

Slot slot_of(const dml::detail::TensorDesc& tensor, std::string name);

class Reader {
 public:
  // Refuses an operator that the device's level does not have.
  Reader(DML_OPERATOR_TYPE type, const dml::DeviceOptions& options);

  // References stay valid while the reader lives.
  const TensorSpec& input(const std::string& name, const DML_TENSOR_DESC* desc) {
    return read(name, desc, op_.support->data, false);
  }
  const TensorSpec& output(const std::string& name, const DML_TENSOR_DESC* desc) {
    return read(name, desc, op_.support->data, true);
  }
  // Tensors of indices, lengths, counts and coordinates.
  const TensorSpec& index_input(const std::string& name, const DML_TENSOR_DESC* desc) {
    return read(name, desc, op_.support->indices, false);
  }
  const TensorSpec& index_output(const std::string& name, const DML_TENSOR_DESC* desc) {
    return read(name, desc, op_.support->indices, true);
  }

  const char* name() const { return info_.name; }
  dml::DML_FEATURE_LEVEL level() const { return op_.level; }

  [[noreturn]] void refuse(const std::string& what, const std::string& detail,
                           const std::string& next) const;
  void check_pointer(const void* pointer, const char* name) const;
  void check_count(const char* name, UINT count, const TensorSpec& spec) const;
  void check_axis(UINT axis, const TensorSpec& spec) const;
  void check_same_rank(const TensorSpec& a, const TensorSpec& b) const;
  void check_same_type(const TensorSpec& a, const TensorSpec& b) const;

  // A value of the output's type.
  Scalar scalar(DML_TENSOR_DATA_TYPE type, const DML_SCALAR_UNION& value,
                const TensorSpec& output) const;

  // `sharing` is kOperator for work of one step only.
  std::shared_ptr<const Program> program(moves::Work work, Sharing sharing = Sharing::kRefused);

 private:
  const TensorSpec& read(const std::string& name, const DML_TENSOR_DESC* desc,
                         const dml::detail::TypeSet& types, bool is_output);

  dml::detail::OperatorInfo info_;
  dml::detail::OperatorDesc op_;
  std::vector<Slot> inputs_, outputs_;
  std::vector<std::unique_ptr<TensorSpec>> specs_;
};

}  // namespace sheaf::dml_com

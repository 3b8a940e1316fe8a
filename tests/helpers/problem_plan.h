// SPDX-License-Identifier: MIT
//
// The oracle's problems as calls of the library.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "helpers/oracle.h"
#include "helpers/scatter_oracle.h"
#include "sheaf/sheaf.h"

sheaf::Dims as_dims(const std::vector<int64_t>& values);
std::vector<int64_t> as_vector(const sheaf::Dims& dims);

// Plans `problem` through the public calls. Without `output` it is contiguous.
struct Tensors {
  sheaf::TensorSpec data = {}, indices = {};
  const sheaf::TensorSpec* output = nullptr;
  sheaf::Scalar fill_value = {};
};
sheaf::Plan plan_of(const oracle::Problem& problem, const Tensors& tensors);

// The same for a scatter: `problem.scatters` is set.
struct ScatterTensors {
  sheaf::TensorSpec data = {}, indices = {}, updates = {};
  const sheaf::TensorSpec* output = nullptr;
};
sheaf::Plan scatter_plan_of(const oracle::Problem& problem, const ScatterTensors& tensors,
                            const oracle::Joining& joining);

inline const std::vector<sheaf::DType> kIndexTypes = {
    sheaf::i8, sheaf::i16, sheaf::i32, sheaf::i64, sheaf::u8, sheaf::u16, sheaf::u32, sheaf::u64};

// Writes `value`, which has to be one of the type's.
void write_index(sheaf::DType type, oracle::Wide value, std::byte* element);
oracle::Wide smallest(sheaf::DType index_type);
oracle::Wide largest(sheaf::DType index_type);

// The names of all kernels, of all backends, that accept the plan: what a test of kernels runs.
std::vector<std::string> accepting_kernels(const sheaf::Plan& plan);

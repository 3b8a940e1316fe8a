// SPDX-License-Identifier: MIT
//
// The C interface with any DLTensors and options. The memory behind a tensor is as large as its
// shape and strides say; those of more than a few KiB are planned, and not run.
#include <sheaf/c.h>

#include <cstring>
#include <vector>

#include "input.h"

namespace {

struct Tensor {
  std::vector<int64_t> shape, strides;
  DLTensor tensor = {};

  Tensor(fuzz::Input& input, bool index) {
    constexpr DLDataType kTypes[] = {
        {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1}, {kDLUInt, 16, 1}, {kDLBfloat, 16, 1}};
    constexpr DLDataType kIndexTypes[] = {{kDLInt, 64, 1}, {kDLInt, 32, 1}, {kDLUInt, 8, 1}};
    for (int64_t rank = input.below(5); rank > 0; --rank) {
      shape.push_back(input.number(0, 4));
      strides.push_back(input.number(-3, 12));
    }
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.shape = shape.data();
    tensor.strides = input.one_in(3) ? strides.data() : nullptr;
    tensor.dtype = index ? input.pick(kIndexTypes) : input.pick(kTypes);
    tensor.device = {kDLCPU, 0};
    if (input.one_in(10)) {
      spoil(input);
    }
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  // Gives it memory, if that need not be large.
  bool give_memory(int which) {
    double low = 0, high = 0, packed = 1;  // they may be huge; what is run is small, hence exact
    for (int d = tensor.ndim - 1; d >= 0; --d) {
      const int64_t size = shape[static_cast<size_t>(d)];
      const double stride =
          tensor.strides != nullptr ? static_cast<double>(strides[static_cast<size_t>(d)]) : packed;
      if (size <= 0) {
        return true;  // no element: no memory
      }
      packed *= static_cast<double>(size);
      (stride < 0 ? low : high) += stride * static_cast<double>(size - 1);
      if (packed > fuzz::kMostBytes || high - low > fuzz::kMostBytes) {
        return false;
      }
    }
    const int64_t element = tensor.dtype.bits / 8 * tensor.dtype.lanes;
    const double bytes = (high - low + 1) * static_cast<double>(element);
    if (bytes > fuzz::kMostBytes || tensor.byte_offset > uint64_t{fuzz::kMostBytes}) {
      return false;
    }
    const auto memory = fuzz::memory_for(which, static_cast<int64_t>(bytes));
    tensor.data = memory.data() - static_cast<int64_t>(low) * element - tensor.byte_offset;
    return true;
  }

 private:
  void spoil(fuzz::Input& input) {
    switch (input.below(6)) {
      case 0: tensor.ndim = -1; break;
      case 1: tensor.shape = nullptr; break;
      case 2: tensor.dtype.code = input.byte(); break;
      case 3: tensor.dtype.bits = input.byte(); break;
      case 4: tensor.device.device_type = static_cast<DLDeviceType>(input.byte() | 2); break;
      default: tensor.byte_offset = input.wide() % 64; break;
    }
  }
};

sheaf_index_rule rule(fuzz::Input& input) {
  constexpr sheaf_out_of_range kChecked[] = {SHEAF_FAIL, SHEAF_CLAMP, SHEAF_FILL, SHEAF_WRAP,
                                             SHEAF_SKIP};
  sheaf_index_rule made = {};
  made.negative = static_cast<decltype(made.negative)>(input.below(3));
  made.out_of_range = static_cast<decltype(made.out_of_range)>(input.pick(kChecked));
  return made;
}

struct Call {
  Tensor data, indices, updates;
  int64_t op, axis, batch_dims;
  int32_t reduction;
  sheaf_index_rule index_rule;

  explicit Call(fuzz::Input& input)
      : data(input, false),
        indices(input, true),
        updates(input, false),
        op(input.below(6)),
        axis(input.number(-2, 3)),
        batch_dims(input.one_in(4) ? input.number(-1, 3) : 0),
        reduction(static_cast<int32_t>(input.number(0, 7))),
        index_rule(rule(input)) {
    updates.tensor.dtype = data.tensor.dtype;
  }

  sheaf_status make(sheaf_plan** plan) const {
    const DLTensor *d = &data.tensor, *i = &indices.tensor, *u = &updates.tensor;
    const sheaf_gather_options gather = {0, axis, batch_dims, index_rule};
    const sheaf_gather_elements_options elements = {0, axis, 0, index_rule};
    const sheaf_gather_nd_options nd = {0, batch_dims, index_rule};
    const sheaf_scatter_options scatter = {0, axis, batch_dims, reduction, 0, 0, 0, index_rule, 0};
    const sheaf_scatter_elements_options cells = {0, axis, reduction, 0, 0, 0, index_rule, 0};
    const sheaf_scatter_nd_options tuples = {0, batch_dims, reduction, 0, 0, 0, index_rule, 0};
    switch (op) {
      case 0: return sheaf_plan_gather(d, i, nullptr, &gather, plan);
      case 1: return sheaf_plan_gather_elements(d, i, nullptr, &elements, plan);
      case 2: return sheaf_plan_gather_nd(d, i, nullptr, &nd, plan);
      case 3: return sheaf_plan_scatter(d, i, u, nullptr, &scatter, plan);
      case 4: return sheaf_plan_scatter_elements(d, i, u, nullptr, &cells, plan);
      default: return sheaf_plan_scatter_nd(d, i, u, nullptr, &tuples, plan);
    }
  }
};

void check(sheaf_status status) {
  fuzz::require(status == SHEAF_OK || std::strstr(sheaf_last_error(), "\n  try: ") != nullptr,
                "a refusal says what to try");
}

void run(fuzz::Input& input, Call& call, const sheaf_plan* plan) {
  DLTensor output = {};
  check(sheaf_plan_output(plan, &output));
  int64_t elements = 1;
  for (int d = 0; d < output.ndim; ++d) {
    if (output.shape[d] > fuzz::kMostBytes || (elements *= output.shape[d]) > fuzz::kMostBytes) {
      return;
    }
  }
  const int64_t bytes = elements * (output.dtype.bits / 8) * output.dtype.lanes;
  const bool scatter = call.op >= 3;
  if (bytes > fuzz::kMostBytes || !call.data.give_memory(0) || !call.indices.give_memory(1) ||
      (scatter && !call.updates.give_memory(2))) {
    return;
  }
  output.data = fuzz::memory_for(3, bytes).data();
  input.fill(fuzz::memory_for(1, fuzz::kMostBytes));
  check(scatter ? sheaf_plan_run_scatter(plan, &call.data.tensor, &call.indices.tensor,
                                         &call.updates.tensor, &output, nullptr)
                : sheaf_plan_run(plan, &call.data.tensor, &call.indices.tensor, &output, nullptr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  Call call(input);
  sheaf_plan* plan = nullptr;
  const sheaf_status status = call.make(&plan);
  check(status);
  if (status == SHEAF_OK) {
    run(input, call, plan);
  }
  sheaf_plan_destroy(plan);
  return 0;
}

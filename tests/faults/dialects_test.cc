// SPDX-License-Identifier: MIT
//
// The C and BNNS interfaces, which return a code.
#include <sheaf/bnns.h>
#include <sheaf/c.h>

#include <cstring>

#include "faults/each_allocation.h"

namespace sheaf::faults {
namespace {

// A packed tensor of C.
struct CTensor {
  int64_t sizes[2];
  DLTensor tensor;

  CTensor(void* memory, uint8_t code, uint8_t bits, int64_t rows, int64_t columns)
      : sizes{rows, columns},
        tensor{memory, {kDLCPU, 0}, columns == 0 ? 1 : 2, {code, bits, 1}, sizes, nullptr, 0} {}
  CTensor(const CTensor&) = delete;
  CTensor& operator=(const CTensor&) = delete;
  operator const DLTensor*() const { return &tensor; }
};

float data_values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
float update_values[6] = {20, 21, 22, 23, 24, 25};
int64_t row_values[2] = {3, 0};

struct CCall {
  CTensor data{data_values, kDLFloat, 32, 4, 3}, rows{row_values, kDLInt, 64, 2, 0};
  CTensor updates{update_values, kDLFloat, 32, 2, 3};
};

void check(sheaf_status status) {
  throw_if_out_of_memory(status == SHEAF_OUT_OF_MEMORY);
  if (status != SHEAF_OK) {
    throw Error(ErrorCode::kInvalidArgument, sheaf_last_error());
  }
}

TEST(OutOfMemoryEverywhere, C) {
  const CCall c;
  fail_each_allocation("sheaf_gather", [&](Output& o) {
    const CTensor output(o, kDLFloat, 32, 2, 3);
    check(sheaf_gather(c.data, c.rows, output, nullptr));
  });
  fail_each_allocation("sheaf_scatter", [&](Output& o) {
    const CTensor output(o, kDLFloat, 32, 4, 3);
    check(sheaf_scatter(c.data, c.rows, c.updates, output, nullptr));
  });
  fail_each_allocation("sheaf_plan_gather and all of a plan", [&](Output& o) {
    const CTensor output(o, kDLFloat, 32, 2, 3);
    sheaf_plan* plan = nullptr;
    sheaf_plan* gradient = nullptr;
    sheaf_status status = sheaf_plan_gather(c.data, c.rows, nullptr, nullptr, &plan);
    if (status == SHEAF_OK) {
      status = sheaf_plan_vjp(plan, &gradient);
    }
    if (status == SHEAF_OK && sheaf_plan_str(plan) == nullptr) {
      status = SHEAF_OUT_OF_MEMORY;
    }
    if (status == SHEAF_OK && sheaf_plan_json(plan) == nullptr) {
      status = SHEAF_OUT_OF_MEMORY;
    }
    if (status == SHEAF_OK) {
      status = sheaf_plan_run(plan, c.data, c.rows, output, nullptr);
    }
    sheaf_plan_destroy(gradient);
    sheaf_plan_destroy(plan);
    check(status);
  });
  fail_each_allocation("sheaf_plan_scatter", [&](Output& o) {
    const CTensor output(o, kDLFloat, 32, 4, 3);
    sheaf_plan* plan = nullptr;
    sheaf_status status = sheaf_plan_scatter(c.data, c.rows, c.updates, nullptr, nullptr, &plan);
    if (status == SHEAF_OK) {
      status = sheaf_plan_run_scatter(plan, c.data, c.rows, c.updates, output, nullptr);
    }
    sheaf_plan_destroy(plan);
    check(status);
  });
  fail_each_allocation("sheaf_queue_host", [&](Output&) {
    sheaf_queue* queue = nullptr;
    const sheaf_status status = sheaf_queue_host(2, &queue);
    sheaf_queue_destroy(queue);
    check(status);
  });
}

BNNSNDArrayDescriptor array(void* memory, BNNSDataType type, size_t rows, size_t columns) {
  BNNSNDArrayDescriptor descriptor = {};
  descriptor.layout = columns == 0 ? BNNSDataLayoutVector : BNNSDataLayout2DFirstMajor;
  descriptor.size[0] = rows;
  descriptor.size[1] = columns;
  descriptor.data = memory;
  descriptor.data_type = type;
  return descriptor;
}

void check_bnns(int status) {
  throw_if_out_of_memory(status == SHEAF_BNNS_OUT_OF_MEMORY);
  if (status != SHEAF_BNNS_OK) {
    throw Error(ErrorCode::kInvalidArgument, "BNNS");
  }
}

TEST(OutOfMemoryEverywhere, Bnns) {
  const auto data = array(data_values, BNNSDataTypeFloat32, 4, 3);
  const auto updates = array(update_values, BNNSDataTypeFloat32, 2, 3);
  const auto rows = array(row_values, BNNSDataTypeInt64, 2, 0);
  const auto tuples = array(row_values, BNNSDataTypeInt64, 2, 1);
  fail_each_allocation("BNNSGather", [&](Output& o) {
    auto output = array(o, BNNSDataTypeFloat32, 2, 3);
    check_bnns(BNNSGather(0, &data, &rows, &output, nullptr));
  });
  fail_each_allocation("BNNSGatherND", [&](Output& o) {
    auto output = array(o, BNNSDataTypeFloat32, 2, 3);
    check_bnns(BNNSGatherND(&data, &tuples, &output, nullptr));
  });
  for (const BNNSReduceFunction op : {BNNSReduceFunctionNone, BNNSReduceFunctionSum}) {
    fail_each_allocation("BNNSScatter", [&](Output& o) {
      auto output = array(o, BNNSDataTypeFloat32, 4, 3);
      check_bnns(BNNSScatter(0, op, &updates, &rows, &output, nullptr));
    });
    fail_each_allocation("BNNSScatterND", [&](Output& o) {
      auto output = array(o, BNNSDataTypeFloat32, 4, 3);
      check_bnns(BNNSScatterND(op, &updates, &tuples, &output, nullptr));
    });
  }
  fail_each_allocation("BNNSCopy", [&](Output& o) {
    auto output = array(o, BNNSDataTypeFloat32, 4, 3);
    check_bnns(BNNSCopy(&output, &data, nullptr));
  });
}

}  // namespace
}  // namespace sheaf::faults

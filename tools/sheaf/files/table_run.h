// SPDX-License-Identifier: MIT
//
// Gathers on a device from tables in files: the rows travel, not the table.
#pragma once

#include <string>

#include "sheaf/encoded_gather.h"
#include "sheaf/table.h"

namespace sheaf::cli {

struct DeviceGather {
  Array output;
  TableStats stats;
  std::string ways;  // what each way said to the call
};

// `indices` are in host memory, and so is the output.
DeviceGather gather_on_device(const Plan& plan, const Table& data, const ConstTensor& indices,
                              const std::string& device, const FileOptions& options);
DeviceGather gather_on_device(const EncodedGatherPlan& plan, const Table& data,
                              const ConstTensor& indices, const std::string& device,
                              const FileOptions& options);

}  // namespace sheaf::cli

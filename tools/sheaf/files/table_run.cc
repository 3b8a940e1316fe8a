// SPDX-License-Identifier: MIT
#include "files/table_run.h"

#include <utility>

namespace sheaf::cli {
namespace {

std::string ways_to(const Plan& plan, const Table& table, const Queue& queue) {
  return explain(plan, table, queue);
}

// Rows that are decoded have their bytes in the plan's gather, which the table does not have.
std::string ways_to(const EncodedGatherPlan& plan, const Table&, const Queue&) {
  return "rows are decoded on the host, from " + plan.data().str() + "\n";
}

void finish_on(const Plan& plan, const Table& table, const Queue& queue) {
  finish(plan, table, queue);
}
void finish_on(const EncodedGatherPlan&, const Table&, const Queue& queue) { wait(queue); }

template <class AnyPlan>
DeviceGather gather_by(const AnyPlan& plan, const Table& data, const ConstTensor& indices,
                       const std::string& device, const FileOptions& options) {
  TableOptions how;
  how.file = options;
  const Table table = data.with(how);
  const Queue queue{.device = device};
  const TensorSpec spec(plan.output().dtype, plan.output().sizes);
  Array output(spec);
  const DeviceMemory there(device,
                           static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes()));
  std::string ways = ways_to(plan, table, queue);
  run(plan, table, indices.data, there.data(), queue, IndexPlace::kHost);
  finish_on(plan, table, queue);
  there.download(output.tensor().data, there.bytes());
  return {std::move(output), stats(table), std::move(ways)};
}

}  // namespace

DeviceGather gather_on_device(const Plan& plan, const Table& data, const ConstTensor& indices,
                              const std::string& device, const FileOptions& options) {
  return gather_by(plan, data, indices, device, options);
}

DeviceGather gather_on_device(const EncodedGatherPlan& plan, const Table& data,
                              const ConstTensor& indices, const std::string& device,
                              const FileOptions& options) {
  return gather_by(plan, data, indices, device, options);
}

}  // namespace sheaf::cli

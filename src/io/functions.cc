// SPDX-License-Identifier: MIT
//
// The operators on tables: a plan, then its run.
#include "sheaf/io.h"

namespace sheaf {
namespace {

Array run_new(const Plan& plan, const Table& data, const ConstTensor& indices,
              const FileOptions& options) {
  Array output(plan.output());
  run(plan, data, indices, output.tensor(), options);
  return output;
}

}  // namespace

Array gather(const Table& data, const ConstTensor& indices, const GatherOptions& options,
             const FileOptions& file_options) {
  return run_new(plan_gather(data.spec(), indices.spec, options), data, indices, file_options);
}

Array gather_elements(const Table& data, const ConstTensor& indices,
                      const GatherElementsOptions& options, const FileOptions& file_options) {
  return run_new(plan_gather_elements(data.spec(), indices.spec, options), data, indices,
                 file_options);
}

Array gather_nd(const Table& data, const ConstTensor& indices, const GatherNdOptions& options,
                const FileOptions& file_options) {
  return run_new(plan_gather_nd(data.spec(), indices.spec, options), data, indices, file_options);
}

Array xla_gather(const Table& data, const ConstTensor& indices, const XlaGatherOptions& options,
                 const FileOptions& file_options) {
  return run_new(plan_xla_gather(data.spec(), indices.spec, options), data, indices, file_options);
}

void scatter(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
             const ScatterOptions& options, const FileOptions& file_options) {
  run_scatter_to_file(plan_scatter(data.spec(), indices.spec, updates.spec, options), data, indices,
                      updates, data.info().path, file_options);
}

void scatter_elements(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                      const ScatterElementsOptions& options, const FileOptions& file_options) {
  run_scatter_to_file(plan_scatter_elements(data.spec(), indices.spec, updates.spec, options), data,
                      indices, updates, data.info().path, file_options);
}

void scatter_nd(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                const ScatterNdOptions& options, const FileOptions& file_options) {
  run_scatter_to_file(plan_scatter_nd(data.spec(), indices.spec, updates.spec, options), data,
                      indices, updates, data.info().path, file_options);
}

void xla_scatter(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                 const XlaScatterOptions& options, const FileOptions& file_options) {
  run_scatter_to_file(plan_xla_scatter(data.spec(), indices.spec, updates.spec, options), data,
                      indices, updates, data.info().path, file_options);
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// Scatters, bags and prefetches of sheaf/c_tables.h.
#include "frontends/c/table_call.h"

#include "frontends/c/bag_call.h"

namespace sheaf {
namespace {

// Types that are all bytes to us are told apart here, as far as the caller has named the table's.
void check_update_type(const Request& r, const sheaf_table_handle& handle, DLDataType type) {
  const bool named = handle.table.place() != TablePlace::kFile &&
                     handle.table.info().encoded.encoding == Encoding::kPlain;
  if (named && r.updates.dtype == r.data.dtype && !same_type(handle.dtype, type)) {
    refuse(r, {Reason::kType, "updates"}, "types differ",
           cat("updates is ", to_string(type), ", but the table is ", to_string(handle.dtype)),
           cat("updates of type ", to_string(handle.dtype), "; nothing is converted"));
  }
}

template <class Options>
sheaf_status scatter_into(const sheaf_table_handle* given, const char* call,
                          const DLTensor* indices, const DLTensor* updates, const Options* options,
                          const sheaf_run_options* run_options) {
  return at_c_boundary([&] {
    const sheaf_table_handle& handle = required_table(given, call);
    const Table& table = handle.table;
    const Options chosen = or_defaults(options);
    const sheaf_run_options how = or_defaults(run_options);
    Request r = table_request(chosen);
    Placement placement;
    const auto read = [&](const DLTensor* tensor, const char* name) {
      const DlpackArgument argument{r.name, name};
      return placement.place(required_tensor(tensor, argument), argument);
    };
    const Tensor at = read(indices, "indices");
    const Tensor from = read(updates, "updates");
    r.data = table.spec();
    r.indices = at.spec;
    r.updates = from.spec;
    r.set_output(table.spec());
    set_scatter_options(r, chosen);
    check_update_type(r, handle, updates->dtype);
    check_run(r, placement.device(), how);
    const Plan plan = make_plan(r);
    run_on_queue(
        placement.device(), how.queue, how.threads,
        [&](const Queue& queue) { run_scatter(plan, table, at.data, from.data, queue); },
        [plan, table](const Queue& queue) { finish(plan, table, queue); });
  });
}

void bag_from(const Table& table, const sheaf_bag_tensors* tensors, const DLTensor* output,
              const sheaf_bag_options* options, const sheaf_run_options& how) {
  const bool encoded = table.info().encoded.encoding != Encoding::kPlain;
  CBag bag =
      read_bag_of(encoded ? table.info().encoded : EncodedSpec(table.spec()), tensors, options);
  const Tensor to = read_required(output, "output", bag);
  const std::string_view device = bag.placement.device();
  const BagPlan plan = plan_of_bag(bag, &to.spec);
  check_run(plan.request(), device, how);
  bag.memory.output = to.data;
  run_on_queue(
      device, how.queue, how.threads,
      [&](const Queue& queue) { run(plan, table, bag.memory, queue); },
      [plan, table](const Queue& queue) { finish(plan, table, queue); });
}

void prefetch_from(const Table& table, const DLTensor* indices, const sheaf_gather_options& options,
                   const sheaf_run_options& how) {
  Request r = table_request(options);
  Placement placement;
  const DlpackArgument argument{r.name, "indices"};
  const Tensor at = placement.place(required_tensor(indices, argument), argument);
  r.data = table.spec();
  r.indices = at.spec;
  r.rule = index_rule(r, options.rule);
  check_run(r, placement.device(), how);
  const Plan plan = make_plan(r);
  if (table.info().encoded.encoding == Encoding::kPlain) {
    run_on_queue(
        placement.device(), how.queue, how.threads,
        [&](const Queue& queue) { prefetch(plan, table, at.data, queue); },
        [](const Queue& queue) { wait(queue); });
  }
}

}  // namespace
}  // namespace sheaf

sheaf_status sheaf_table_scatter(const sheaf_table_handle* table, const DLTensor* indices,
                                 const DLTensor* updates, const sheaf_scatter_options* options,
                                 const sheaf_run_options* run) {
  return sheaf::scatter_into(table, "sheaf_table_scatter", indices, updates, options, run);
}

sheaf_status sheaf_table_scatter_elements(const sheaf_table_handle* table, const DLTensor* indices,
                                          const DLTensor* updates,
                                          const sheaf_scatter_elements_options* options,
                                          const sheaf_run_options* run) {
  return sheaf::scatter_into(table, "sheaf_table_scatter_elements", indices, updates, options, run);
}

sheaf_status sheaf_table_scatter_nd(const sheaf_table_handle* table, const DLTensor* indices,
                                    const DLTensor* updates,
                                    const sheaf_scatter_nd_options* options,
                                    const sheaf_run_options* run) {
  return sheaf::scatter_into(table, "sheaf_table_scatter_nd", indices, updates, options, run);
}

sheaf_status sheaf_table_bag(const sheaf_table_handle* table, const sheaf_bag_tensors* tensors,
                             const DLTensor* output, const sheaf_bag_options* options,
                             const sheaf_run_options* run) {
  return sheaf::at_c_boundary([&] {
    const sheaf_table_handle& t = sheaf::required_table(table, "sheaf_table_bag");
    sheaf::bag_from(t.table, tensors, output, options, sheaf::or_defaults(run));
  });
}

sheaf_status sheaf_table_prefetch(const sheaf_table_handle* table, const DLTensor* indices,
                                  const sheaf_gather_options* options,
                                  const sheaf_run_options* run) {
  return sheaf::at_c_boundary([&] {
    const sheaf_table_handle& t = sheaf::required_table(table, "sheaf_table_prefetch");
    sheaf::prefetch_from(t.table, indices, sheaf::or_defaults(options), sheaf::or_defaults(run));
  });
}

// SPDX-License-Identifier: MIT
//
// The tables of sheaf/c_tables.h.
#include <algorithm>
#include <cstring>
#include <memory>

#include "frontends/c/bag_call.h"
#include "frontends/c/table_call.h"
#include "plan/byte_ranges.h"
#include "plan/encoded_gather.h"

namespace sheaf {

const sheaf_table_handle& required_table(const sheaf_table_handle* table, const char* call) {
  if (table == nullptr) {
    refuse_null(call, "table", "a table that sheaf_table_open or sheaf_table_memory made");
  }
  return *table;
}

namespace {

sheaf_table_handle*& table_place(sheaf_table_handle** table, const char* call) {
  if (table == nullptr) {
    refuse_null(call, "table", "the address of a sheaf_table_handle*");
  }
  *table = nullptr;
  return *table;
}

TableOptions table_options(const sheaf_table_options* given, const char* call) {
  sheaf_table_options c = {};
  if (given != nullptr) {
    copy_options(&c, given, sizeof c, sizeof c);
  }
  TableOptions options;
  options.way = c.way == nullptr ? "" : c.way;
  options.piece_bytes = c.piece_bytes == 0 ? options.piece_bytes : c.piece_bytes;
  options.pieces = c.pieces == 0 ? options.pieces : c.pieces;
  options.threads = c.threads;
  options.lock = c.lock != 0;
  options.file.depth = c.depth == 0 ? options.file.depth : c.depth;
  options.file.memory = c.memory == 0 ? options.file.memory : c.memory;
  options.cache_bytes = c.cache_bytes;
  if (c.cached_rows.count < 0 || (c.cached_rows.count > 0 && c.cached_rows.values == nullptr)) {
    refuse_null(call, "cached_rows.values", "count = 0, or an array of count numbers");
  }
  if (c.cached_rows.count > 0) {
    options.cached_rows.assign(c.cached_rows.values, c.cached_rows.values + c.cached_rows.count);
  }
  return options;
}

sheaf_table_handle* new_handle(const Table& table, const TableOptions& options,
                               std::optional<DLDataType> dtype) {
  const TableInfo& info = table.info();
  const bool encoded = info.encoded.encoding != Encoding::kPlain;
  const TensorSpec shown = encoded ? TensorSpec(f32, info.encoded.sizes) : info.spec;
  return new sheaf_table_handle{table.with(options), dtype.value_or(dtype_to_dlpack(shown.dtype)),
                                shown};
}

std::shared_ptr<void> held_by(void (*release)(void* held), void* held) {
  return {held, [release](void* last) {
            if (release != nullptr) {
              release(last);
            }
          }};
}

// Scatters write to it, unless its elements share memory: their plan refuses it then.
Table table_of(const Tensor& rows, std::string_view device, const std::shared_ptr<void>& held) {
  const bool on_host = device.empty();
  if (!elements_disjoint(rows.spec)) {
    return on_host ? Table::host(rows, held) : Table::device(device, rows, held);
  }
  return on_host ? Table::host_writable(rows, held) : Table::device_writable(device, rows, held);
}

[[noreturn]] void refuse_encoded_place(std::string_view device) {
  throw Error(Refusal{.cause = {Reason::kMemory, "data"},
                      .who = "sheaf_table_encoded",
                      .what = "encoded rows on a device",
                      .detail = cat("the rows are in memory of device ", device),
                      .next = "rows in host memory, or sheaf_bag"});
}

void gather_from(const Table& table, const Request& r, DType type, const void* indices,
                 void* output, std::string_view device, const sheaf_run_options& run_options) {
  const int threads = run_options.threads;
  if (table.info().encoded.encoding != Encoding::kPlain && type != u8) {
    const EncodedGatherPlan plan = make_encoded_gather(table.info().encoded, r, type);
    run_on_queue(
        device, run_options.queue, threads,
        [&](const Queue& queue) { run(plan, table, indices, output, queue); },
        [](const Queue& queue) { wait(queue); });
    return;
  }
  const Plan plan = make_plan(r);
  run_on_queue(
      device, run_options.queue, threads,
      [&](const Queue& queue) { run(plan, table, indices, output, queue); },
      [plan, table](const Queue& queue) { finish(plan, table, queue); });
}

template <class Options>
sheaf_status gather_once(const sheaf_table_handle* given, const char* call, const DLTensor* indices,
                         const DLTensor* output, const Options* options,
                         const sheaf_run_options* run_options) {
  return at_c_boundary([&] {
    const sheaf_table_handle& table = required_table(given, call);
    const Options chosen = or_defaults(options);
    const sheaf_run_options how = or_defaults(run_options);
    Request r = table_request(chosen);
    Placement placement;
    const auto read = [&](const DLTensor* tensor, const char* name) {
      const DlpackArgument argument{r.name, name};
      return placement.place(required_tensor(tensor, argument), argument);
    };
    const Tensor at = read(indices, "indices");
    const Tensor to = read(output, "output");
    r.data = table.table.spec();
    r.indices = at.spec;
    r.set_output(to.spec);
    r.rule = index_rule(r, chosen.rule);
    check_run(r, placement.device(), how);
    gather_from(table.table, r, to.spec.dtype, at.data, to.data, placement.device(), how);
  });
}

void copy_counts(const TableStats& from, sheaf_table_counts& to) {
  to.calls = from.calls;
  to.rows = from.rows;
  to.rows_fetched = from.rows_fetched;
  to.bytes_to_device = from.bytes_to_device;
  to.cache_hits = from.cache_hits;
  to.cache_misses = from.cache_misses;
  to.pieces = from.pieces;
  to.staging_bytes = from.staging_bytes;
  to.staging_pinned = from.staging_pinned ? 1 : 0;
  std::memset(to.way, 0, sizeof to.way);
  from.way.copy(to.way, sizeof to.way - 1);
  to.rows_scattered = from.rows_scattered;
  to.bytes_to_host = from.bytes_to_host;
  to.rows_prefetched = from.rows_prefetched;
}

}  // namespace
}  // namespace sheaf

sheaf_status sheaf_table_open(const char* path, const char* name,
                              const sheaf_table_options* options, sheaf_table_handle** table) {
  return sheaf::at_c_boundary([&] {
    sheaf_table_handle*& place = sheaf::table_place(table, "sheaf_table_open");
    if (path == nullptr) {
      sheaf::refuse_null("sheaf_table_open", "path", "the path of a file");
    }
    const sheaf::TableOptions chosen = sheaf::table_options(options, "sheaf_table_open");
    place = sheaf::new_handle(sheaf::open_table(path, name == nullptr ? "" : name), chosen, {});
  });
}

sheaf_status sheaf_table_memory(const DLTensor* data, void (*release)(void* held), void* held,
                                const sheaf_table_options* options, sheaf_table_handle** table) {
  return sheaf::at_c_boundary([&] {
    const std::shared_ptr<void> kept = sheaf::held_by(release, held);
    sheaf_table_handle*& place = sheaf::table_place(table, "sheaf_table_memory");
    const sheaf::DlpackArgument argument{"sheaf_table_memory", "data"};
    sheaf::Placement placement;
    const sheaf::Tensor rows = placement.place(sheaf::required_tensor(data, argument), argument);
    const sheaf::TableOptions chosen = sheaf::table_options(options, "sheaf_table_memory");
    place = sheaf::new_handle(sheaf::table_of(rows, placement.device(), kept), chosen, data->dtype);
  });
}

sheaf_status sheaf_table_encoded(const sheaf_table* data, void (*release)(void* held), void* held,
                                 const sheaf_table_options* options, sheaf_table_handle** table) {
  return sheaf::at_c_boundary([&] {
    const std::shared_ptr<void> kept = sheaf::held_by(release, held);
    sheaf_table_handle*& place = sheaf::table_place(table, "sheaf_table_encoded");
    sheaf::Placement placement;
    const sheaf::Encoded rows = sheaf::read_table(data, "sheaf_table_encoded", placement);
    if (!placement.device().empty()) {
      sheaf::refuse_encoded_place(placement.device());
    }
    const sheaf::TableOptions chosen = sheaf::table_options(options, "sheaf_table_encoded");
    place = sheaf::new_handle(sheaf::Table::host_encoded(rows, kept), chosen, {});
  });
}

sheaf_status sheaf_table_tensor(const sheaf_table_handle* table, DLTensor* tensor) {
  return sheaf::at_c_boundary([&] {
    const sheaf_table_handle& t = sheaf::required_table(table, "sheaf_table_tensor");
    if (tensor == nullptr) {
      sheaf::refuse_null("sheaf_table_tensor", "tensor", "the address of a DLTensor");
    }
    *tensor = {};
    tensor->device = {kDLCPU, 0};
    tensor->ndim = t.shown.rank();
    tensor->dtype = t.dtype;
    tensor->shape = const_cast<int64_t*>(t.shown.sizes.begin());
    tensor->strides = const_cast<int64_t*>(t.shown.strides.begin());
  });
}

sheaf_status sheaf_table_gather(const sheaf_table_handle* table, const DLTensor* indices,
                                const DLTensor* output, const sheaf_gather_options* options,
                                const sheaf_run_options* run) {
  return sheaf::gather_once(table, "sheaf_table_gather", indices, output, options, run);
}

sheaf_status sheaf_table_gather_elements(const sheaf_table_handle* table, const DLTensor* indices,
                                         const DLTensor* output,
                                         const sheaf_gather_elements_options* options,
                                         const sheaf_run_options* run) {
  return sheaf::gather_once(table, "sheaf_table_gather_elements", indices, output, options, run);
}

sheaf_status sheaf_table_gather_nd(const sheaf_table_handle* table, const DLTensor* indices,
                                   const DLTensor* output, const sheaf_gather_nd_options* options,
                                   const sheaf_run_options* run) {
  return sheaf::gather_once(table, "sheaf_table_gather_nd", indices, output, options, run);
}

sheaf_status sheaf_table_stats(const sheaf_table_handle* table, sheaf_table_counts* counts) {
  return sheaf::at_c_boundary([&] {
    const sheaf_table_handle& t = sheaf::required_table(table, "sheaf_table_stats");
    if (counts == nullptr) {
      sheaf::refuse_null("sheaf_table_stats", "counts", "the address of a sheaf_table_counts");
    }
    const size_t size = counts->struct_size;
    sheaf_table_counts known = {};
    sheaf::copy_counts(sheaf::stats(t.table), known);
    known.struct_size = size;
    std::memcpy(counts, &known, size == 0 ? sizeof known : std::min(size, sizeof known));
  });
}

sheaf_status sheaf_table_forget_cached_rows(const sheaf_table_handle* table) {
  return sheaf::at_c_boundary([&] {
    sheaf::forget_cached_rows(sheaf::required_table(table, "sheaf_table_forget_cached_rows").table);
  });
}

void sheaf_table_destroy(sheaf_table_handle* table) { delete table; }

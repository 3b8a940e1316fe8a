// SPDX-License-Identifier: MIT
#include "table_rows.h"

#include <Python.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "errors.h"
#include "gpu.h"
#include "plan/byte_ranges.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

// The last copy of a table may be let go of without Python's lock.
std::shared_ptr<const TableViews> held(std::unique_ptr<TableViews> views) {
  return {views.release(), [](const TableViews* last) {
            if (Py_IsInitialized() != 0) {
              const nb::gil_scoped_acquire lock;
              delete last;
            }
          }};
}

void refuse_copies(const View& view, nb::handle array) {
  if (PyArray_Check(array.ptr()) && PyArray_DATA(as_array(array.ptr())) != view.tensor.data) {
    raise_argument(refusal_text(
        "Table: strides that are not whole elements",
        "such an array is read by a copy, and a table does not follow what happens to a copy",
        "a contiguous array"));
  }
}

// The library keeps the name, and not its characters.
std::string_view known_reader(std::string_view name) {
  for (const std::string_view known : {"io_uring", "pread"}) {
    if (name == known) {
      return known;
    }
  }
  if (!name.empty()) {
    raise_argument(refusal_text("Table: unknown reader", cat("reader=\"", name, "\""),
                                "\"io_uring\" or \"pread\""));
  }
  return {};
}

nb::tuple sizes_of(const Dims& sizes) {
  nb::list list;
  for (const int64_t size : sizes) {
    list.append(size);
  }
  return nb::tuple(list);
}

}  // namespace

Rows rows_of_file(const Table& table) { return {table, nullptr}; }

Rows rows_of_array(nb::handle data) {
  auto views = std::make_unique<TableViews>();
  Placement placement;
  view_table(*views, data, "Table", &placement);
  const nb::object array = is_encoded(data) ? data.attr("stored") : nb::borrow(data);
  refuse_copies(views->stored, array);
  const View& stored = views->stored;
  if (views->decodes() && stored.on_gpu()) {
    raise_unsupported(refusal_text("Table: encoded rows on a device",
                                   cat("the rows are on ", text_of(stored.device)),
                                   "sheaf.gather, or a table of rows in host memory"));
  }
  const ConstTensor tensor{stored.tensor.data, stored.tensor.spec};
  const DLDevice device = stored.device;
  const std::shared_ptr<const TableViews> kept = held(std::move(views));
  try {
    if (kept->decodes()) {
      return {Table::host_encoded({kept->spec, tensor.data}, kept), kept};
    }
    if (!elements_disjoint(tensor.spec)) {  // a scatter into it is refused by its plan
      return {is_gpu(device) ? Table::device(gpu::name_of(device), tensor, kept)
                             : Table::host(tensor, kept),
              kept};
    }
    // Each scatter looks whether the array is writable then.
    const Tensor memory = kept->stored.tensor;
    return {is_gpu(device) ? Table::device_writable(gpu::name_of(device), memory, kept)
                           : Table::host_writable(memory, kept),
            kept};
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

Rows with_options(const Rows& rows, const std::string& way, int64_t piece_bytes, int pieces,
                  int threads, bool lock, int64_t cache_bytes,
                  const std::vector<int64_t>& cached_rows, int64_t memory, int depth, bool direct,
                  std::string_view reader, nb::handle cache) {
  TableOptions options;
  options.way = way;
  options.piece_bytes = piece_bytes;
  options.pieces = pieces;
  options.threads = threads;
  options.lock = lock;
  options.cache_bytes = cache_bytes;
  options.cached_rows = cached_rows;
  options.file.memory = memory;
  options.file.depth = depth;
  options.file.direct = direct;
  options.file.reader = known_reader(reader);
  options.file.cache = cache.is_none() ? nullptr : nb::cast<RowCache*>(cache);
  try {
    return {rows.table.with(options), rows.views, way};
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

nb::dict stats_of(const Rows& rows) {
  const TableStats stats = sheaf::stats(rows.table);
  nb::dict dict;
  dict["calls"] = stats.calls;
  dict["rows"] = stats.rows;
  dict["rows_fetched"] = stats.rows_fetched;
  dict["bytes_to_device"] = stats.bytes_to_device;
  dict["cache_hits"] = stats.cache_hits;
  dict["cache_misses"] = stats.cache_misses;
  dict["pieces"] = stats.pieces;
  dict["staging_bytes"] = stats.staging_bytes;
  dict["staging_pinned"] = stats.staging_pinned;
  dict["way"] = stats.way;
  dict["rows_scattered"] = stats.rows_scattered;
  dict["bytes_to_host"] = stats.bytes_to_host;
  dict["rows_prefetched"] = stats.rows_prefetched;
  return dict;
}

nb::tuple described(const Rows& rows) {
  const TableInfo& info = rows.table.info();
  const View* const array = rows.array();
  const std::string place = array != nullptr && array->on_gpu()
                                ? text_of(array->device)
                                : std::string(to_string(rows.table.place()));
  return nb::make_tuple(info.spec.dtype.name(),
                        sizes_of(rows.encoded() ? info.encoded.sizes : info.spec.sizes), info.bytes,
                        place, std::string(to_string(info.encoded.encoding)));
}

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// Tables in files, as sheaf/_tables.py needs them: results are plain bytes, which get their type
// there, since NumPy has no name of its own for some of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.h"
#include "call.h"
#include "errors.h"
#include "plan/encoded_gather.h"
#include "sheaf/io.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;
using Bytes = nb::ndarray<nb::numpy, uint8_t>;
using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

nb::tuple shape_of(const TensorSpec& spec) {
  nb::list sizes;
  for (const int64_t size : spec.sizes) {
    sizes.append(size);
  }
  return nb::tuple(sizes);
}

// Of an encoded tensor, decoded.
nb::tuple shape_of(const EncodedSpec& spec) { return shape_of(TensorSpec(u8, spec.sizes)); }

// The memory of an Array, kept alive by the NumPy array that shows it.
Bytes bytes_of(Array array) {
  auto* kept = new Array(std::move(array));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Array*>(memory); });
  const auto bytes = static_cast<size_t>(element_count(kept->sizes()) * kept->spec().dtype.bytes());
  return Bytes(kept->tensor().data, {bytes}, owner);
}

// A path as the system has it: any bytes but NUL.
std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

nb::object path_text(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), std::ssize(path)));
}

// `type` names the elements; the array itself may show them as something of the same size.
ConstTensor tensor_of(const Input& array, const std::string& type) {
  TensorSpec spec;
  spec.dtype = dtype_from_name(type);
  if (static_cast<int64_t>(array.itemsize()) != spec.dtype.bytes()) {
    raise_argument(cat("elements of ", static_cast<int64_t>(array.itemsize()), " bytes where ",
                       type, " has ", spec.dtype.bytes(), ": the array changed during the call"));
  }
  Dims sizes;
  for (size_t d = 0; d < array.ndim(); ++d) {
    sizes.push_back(static_cast<int64_t>(array.shape(d)));
  }
  return {array.data(), TensorSpec(spec.dtype, sizes)};
}

std::optional<FileFormat> format_named(const std::string& name) {
  if (name.empty()) {
    return std::nullopt;
  }
  for (const FileFormat format : {FileFormat::kNpy, FileFormat::kNpz, FileFormat::kSafetensors,
                                  FileFormat::kOnnx, FileFormat::kRaw}) {
    if (to_string(format) == name) {
      return format;
    }
  }
  raise_argument(cat("format is npy, npz, safetensors, onnx or raw, not \"", name, "\""));
}

struct Settings {
  int64_t memory = FileOptions{}.memory;
  int depth = FileOptions{}.depth;
  bool direct = false;
  std::string reader, format;
  RowCache* cache = nullptr;

  FileOptions options() const {
    return {.memory = memory,
            .depth = depth,
            .direct = direct,
            .format = format_named(format),
            .reader = reader,
            .cache = cache};
  }
};

nb::dict stats_dict(const FileStats& stats) {
  nb::dict dict;
  dict["blocks"] = stats.blocks;
  dict["bytes_read"] = stats.bytes_read;
  dict["requests"] = stats.requests;
  dict["cache_hits"] = stats.cache_hits;
  dict["cache_misses"] = stats.cache_misses;
  dict["reader"] = stats.reader;
  return dict;
}

Plan plan_or_raise(const Request& request) {
  try {
    return make_plan(request);
  } catch (const Error& error) {
    raise_refusal(request, error);
  }
}

EncodedGatherPlan encoded_plan_or_raise(const Table& table, const Request& request, DType type) {
  try {
    return make_encoded_gather(table.info().encoded, request, type);
  } catch (const Error& error) {
    raise_refusal(request, error);
  }
}

// By either kind of plan: the result's bytes, or None if it went to the file `out`; its shape; and
// what was read.
template <class AnyPlan>
nb::tuple gather_by(const AnyPlan& plan, const Table& table, const ConstTensor& indices,
                    const nb::bytes& out, const FileOptions& options) {
  const nb::tuple shape = shape_of(plan.output());
  FileStats stats;
  if (out.size() != 0) {
    const std::string path = path_of(out);
    without_gil([&] { stats = run_to_file(plan, table, indices, path, options); });
    return nb::make_tuple(nb::none(), shape, stats_dict(stats));
  }
  Array output(plan.output());
  without_gil([&] { stats = run(plan, table, indices, output.tensor(), options); });
  return nb::make_tuple(bytes_of(std::move(output)), shape, stats_dict(stats));
}

// `decoded` names the type that encoded rows become; empty: rows are moved as they are stored.
nb::tuple gather_table(const Table& table, std::string_view op, const Input& indices,
                       const std::string& index_type, int64_t axis, int64_t batch_dims,
                       bool broadcast, std::string_view out_of_range, std::string_view negative,
                       nb::handle fill_value, const nb::bytes& out, const Settings& settings,
                       const std::string& decoded) {
  Request request = request_from(op_from_name(op));
  set_options(request,
              GatherKeywords{axis, batch_dims, broadcast, out_of_range, negative, fill_value},
              nullptr);
  const ConstTensor index_tensor = tensor_of(indices, index_type);
  request.data = table.spec();
  request.indices = index_tensor.spec;
  if (!decoded.empty()) {
    return gather_by(encoded_plan_or_raise(table, request, dtype_from_name(decoded)), table,
                     index_tensor, out, settings.options());
  }
  return gather_by(plan_or_raise(request), table, index_tensor, out, settings.options());
}

nb::dict scatter_table(const Table& table, std::string_view op, const Input& indices,
                       const std::string& index_type, const Input& updates, int64_t axis,
                       int64_t batch_dims, std::string_view reduction, bool include_self,
                       std::string_view out_of_range, std::string_view negative,
                       const nb::bytes& out, const Settings& settings) {
  Request request = request_from(op_from_name(op));
  set_options(request,
              ScatterKeywords{.axis = axis,
                              .batch_dims = batch_dims,
                              .reduction = reduction,
                              .include_self = include_self,
                              .out_of_range = out_of_range,
                              .negative = negative},
              nullptr);
  const ConstTensor index_tensor = tensor_of(indices, index_type);
  const ConstTensor update_tensor = tensor_of(updates, table.spec().dtype.name());
  request.data = table.spec();
  request.indices = index_tensor.spec;
  request.updates = update_tensor.spec;
  const Plan plan = plan_or_raise(request);
  FileStats stats;
  const FileOptions options = settings.options();
  const std::string path = out.size() == 0 ? table.info().path : path_of(out);
  without_gil([&] {
    stats = run_scatter_to_file(plan, table, index_tensor, update_tensor, path, options);
  });
  return stats_dict(stats);
}

nb::tuple info_tuple(const TableInfo& info) {
  const bool c_order = info.spec == TensorSpec(info.spec.dtype, info.spec.sizes);
  return nb::make_tuple(info.name, info.spec.dtype.name(), shape_of(info.spec), info.bytes,
                        path_text(info.path), info.offset, c_order ? "C" : "F", info.storage,
                        info.unsupported, std::string(to_string(info.encoded.encoding)),
                        shape_of(info.encoded));
}

Table raw_table(const nb::bytes& path, const std::string& type, const std::vector<int64_t>& shape,
                int64_t offset) {
  return open_raw(path_of(path),
                  TensorSpec(dtype_from_name(type), Dims(std::span<const int64_t>(shape))), offset);
}

// sheaf.Table, once sheaf/_tables.py has been imported. Never released: it lives as long as we do.
PyObject* table_type = nullptr;

}  // namespace

bool is_table(nb::handle object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == table_type;
}

nb::object gather_from_table(Op op, nb::handle table, nb::handle indices,
                             const GatherKeywords& keywords, nb::handle out) {
  const nb::object fill =
      keywords.fill_value.is_valid() ? nb::borrow(keywords.fill_value) : nb::int_(0);
  return table.attr("_gather")(
      nb::str(to_string(op).data()), indices, keywords.axis, keywords.batch_dims,
      keywords.broadcast, "out_of_range"_a = keywords.out_of_range,
      "negative"_a = keywords.negative, "fill_value"_a = fill, "out"_a = out);
}

void bind_files(nb::module_& module) {
  nb::class_<RowCache>(module, "RowCache", "Rows of tables that stay in memory between calls.")
      .def(nb::init<int64_t>(), "bytes"_a)
      .def_prop_ro("hits", &RowCache::hits)
      .def_prop_ro("misses", &RowCache::misses)
      .def_prop_ro("nbytes", &RowCache::bytes);
  nb::class_<Settings>(module, "FileSettings", "How a table is read.")
      .def(nb::init<>())
      .def_rw("memory", &Settings::memory)
      .def_rw("depth", &Settings::depth)
      .def_rw("direct", &Settings::direct)
      .def_rw("reader", &Settings::reader)
      .def_rw("format", &Settings::format)
      .def_rw("cache", &Settings::cache, nb::rv_policy::reference);
  nb::class_<Table>(module, "TableHandle", "What sheaf.Table stands on.")
      .def(
          "info", [](const Table& table) { return info_tuple(table.info()); },
          nb::sig("def info(self) -> tuple[Any, ...]"))
      .def(
          "load",
          [](const Table& table) {
            std::optional<Array> array;
            without_gil([&] { array.emplace(table.load()); });
            return bytes_of(std::move(*array));
          },
          nb::sig("def load(self) -> Any"))
      .def("gather", gather_table, nb::sig("def gather(self, *arguments: Any) -> tuple[Any, ...]"))
      .def("scatter", scatter_table,
           nb::sig("def scatter(self, *arguments: Any) -> dict[str, Any]"));
  nb::class_<File>(module, "FileHandle", "What sheaf.File stands on.")
      .def("__init__", [](File* file, const nb::bytes& path) { new (file) File(path_of(path)); })
      .def("format", [](const File& file) { return std::string(to_string(file.format())); })
      .def("metadata", &File::metadata)
      .def(
          "tensors",
          [](const File& file) {
            nb::list list;
            for (const TableInfo& info : file.tensors()) {
              list.append(info_tuple(info));
            }
            return list;
          },
          nb::sig("def tensors(self) -> list[tuple[Any, ...]]"))
      .def("table", &File::table);
  module.def("raw_table", raw_table);
  module.def("set_table_type",
             [](nb::handle type) { table_type = nb::borrow(type).release().ptr(); });
}

}  // namespace sheaf::python

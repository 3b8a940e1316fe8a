// SPDX-License-Identifier: MIT
//
// Encoded tables, and the gathers that decode them.
#include "encoded.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>

#include "bags.h"
#include "bindings.h"
#include "call.h"
#include "errors.h"
#include "gpu_run.h"
#include "plan/encoded_gather.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

PyObject* encoded_type = nullptr;

Dims dims_of(nb::handle sequence) {
  const auto values = nb::cast<std::vector<int64_t>>(sequence);
  return Dims{std::span<const int64_t>(values)};
}

// All but the arrays.
EncodedSpec spec_without_arrays(nb::handle encoded) {
  EncodedSpec spec;
  spec.encoding = encoding_from_name(nb::cast<std::string>(encoded.attr("encoding")));
  spec.sizes = dims_of(encoded.attr("shape"));
  spec.block = nb::cast<int64_t>(encoded.attr("block"));
  spec.axis = nb::cast<int64_t>(encoded.attr("axis"));
  spec.usual_zero = nb::cast<int64_t>(encoded.attr("usual_zero"));
  return spec;
}

// A view whose elements a plan can have.
void view_known(View& view, nb::handle object, const Argument& argument) {
  view_array(view, object, argument);
  refuse_large_elements(view);
}

// Throws what is wrong with a description, in the words of a call.
void check_encoded(nb::handle encoded) {
  const EncodedSpec spec = describe_table(encoded, "Encoded");
  if (const auto problem = problem_of(spec)) {
    raise_argument(refusal_text(cat("Encoded: ", problem->what),
                                cat(problem->detail, " (", to_string(spec.encoding), ")"),
                                problem->next));
  }
}

// How many elements a row of so many bytes has, or -1 if no row is that long.
int64_t elements_of_row(const std::string& name, int64_t bytes) {
  const Encoding encoding = encoding_from_name(name);
  if (has_blocks(encoding)) {
    const BlockShape block = block_shape(encoding);
    return bytes % block.bytes == 0 ? bytes / block.bytes * block.elements : -1;
  }
  if (encoding == Encoding::kPlain) {
    return -1;
  }
  const int64_t beside = encoded_row_bytes(encoding, 0);
  return bytes < beside ? -1 : (bytes - beside) * (8 / code_bits(encoding));
}

struct EncodedCall {
  TableViews data;
  View indices;
  View out;
  Placement placement;

  void refuse_changed(std::string_view name) const {
    for (const View* view : {&data.stored, &data.scales, &data.zeros, &indices, &out}) {
      refuse_if_changed(*view, name);
    }
  }
};

EncodedGatherPlan encoded_plan(const EncodedSpec& data, const Request& request, DType type) {
  try {
    return make_encoded_gather(data, request, type);
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

EncodedGatherMemory memory_of(const EncodedCall& call, void* output) {
  return {call.data.stored.tensor.data, call.data.scales.tensor.data, call.data.zeros.tensor.data,
          call.indices.tensor.data, output};
}

void run_decoding(const EncodedGatherPlan& plan, const EncodedCall& call, void* output, int threads,
                  bool fresh) {
  call.refuse_changed(plan.decoded_gather().request().name);
  without_gil(
      [&] { plan.run(memory_of(call, output), {.threads = threads, .output_is_fresh = fresh}); });
}

void view_call(EncodedCall& call, std::string_view name, nb::handle data, nb::handle indices,
               nb::handle out) {
  view_table(call.data, data, name, &call.placement);
  view_known(call.indices, indices, {name, Role::kIndices, nullptr, &call.placement});
  if (!out.is_none()) {
    view_known(call.out, out, {name, Role::kOutput, nullptr, &call.placement});
  }
  refuse_other_devices(name, call.placement,
                       {{"data", &call.data.stored},
                        {"scales", &call.data.scales},
                        {"zeros", &call.data.zeros},
                        {"indices", &call.indices},
                        {"out", &call.out}});
}

// A bag for each index, which has the same bits: whole rows are decoded by wide words there.
// Nothing where the gather is no such bag.
std::optional<BagPlan> bags_of_one(const EncodedGatherPlan& plan) {
  const Request& request = plan.decoded_gather().request();
  const TensorSpec& indices = request.indices;
  const TensorSpec& output = plan.output();
  if (request.op != Op::kGather || request.axis != 0 || request.batch_dims != 0 ||
      indices.strides != contiguous_strides(indices.sizes) ||
      output.strides != contiguous_strides(output.sizes)) {
    return std::nullopt;
  }
  BagRequest bags;
  bags.name = request.name;
  bags.specs.data = plan.data();
  bags.specs.indices = TensorSpec(indices.dtype, {element_count(indices.sizes), 1});
  bags.options.output_type = output.dtype;
  bags.options.rule = request.rule;
  return bag_plan(bags);
}

void decode_on_gpu(const EncodedGatherPlan& plan, const EncodedCall& call, void* output,
                   bool fresh) {
  const EncodedGatherMemory memory = memory_of(call, output);
  const Request& request = plan.decoded_gather().request();
  const auto last_check = [&] { call.refuse_changed(request.name); };
  if (const auto bags = bags_of_one(plan)) {
    run_bag_at(call.placement, *bags,
               {.stored = memory.stored,
                .scales = memory.scales,
                .zeros = memory.zeros,
                .indices = memory.indices,
                .output = output},
               0, fresh, last_check);
    return;
  }
  const auto start = [&](const Queue& queue, const RunOptions& options) {
    run(plan, memory, queue, options);
  };
  run_on_gpu(call.placement, plan, request.rule.out_of_range == OutOfRange::kFail, fresh, start,
             std::function<void()>(last_check));
}

nb::object gather_on_gpu(Request& request, const EncodedCall& call, nb::handle out, DType type) {
  if (out.is_none()) {
    const EncodedGatherPlan plan = encoded_plan(call.data.spec, request, type);
    Result result(call.data.stored, plan.output());
    decode_on_gpu(plan, call, result.memory(), true);
    return result.finish(false);
  }
  if (!call.out.whole_strides) {
    raise_argument(refusal_text(cat(request.name, ": out has strides that are not whole elements"),
                                "rows are decoded into it in place", "a contiguous out"));
  }
  request.set_output(call.out.tensor.spec);
  decode_on_gpu(encoded_plan(call.data.spec, request, type), call, call.out.tensor.data, false);
  return nb::borrow(out);
}

// The element type of the result: that of out, or the one asked for.
DType result_type(std::string_view call, const View& out, nb::handle dtype) {
  const bool has_out = out.object.is_valid();
  const DType out_type = out.tensor.spec.dtype;
  if (dtype.is_none()) {
    return has_out ? out_type : f32;
  }
  const DType asked = dtype_from(dtype, call);
  if (has_out && out_type != asked) {
    raise_dtype(refusal_text(cat(call, ": types differ"),
                             cat("out is ", out_type.name(), ", but dtype is ", asked.name()),
                             "out alone, or dtype alone"));
  }
  return asked;
}

nb::object gather_on_host(Request& request, const EncodedCall& call, nb::handle out, DType type,
                          int threads) {
  const EncodedSpec& data = call.data.spec;
  if (out.is_none()) {
    const EncodedGatherPlan plan = encoded_plan(data, request, type);
    Result result(call.data.stored, plan.output());
    run_decoding(plan, call, result.memory(), threads, true);
    return result.finish(false);
  }
  const TensorSpec& wanted = call.out.tensor.spec;
  if (call.out.whole_strides) {
    request.set_output(wanted);
    run_decoding(encoded_plan(data, request, type), call, call.out.tensor.data, threads, false);
    return nb::borrow(out);
  }
  const TensorSpec contiguous(type, wanted.sizes);
  request.set_output(contiguous);
  Array temporary(contiguous);
  run_decoding(encoded_plan(data, request, type), call, temporary.tensor().data, threads, true);
  copy_into(call.out, temporary.tensor(), request.name);
  return nb::borrow(out);
}

nb::object run_encoded_gather(std::string_view op, nb::handle data, nb::handle indices,
                              nb::handle out, int64_t axis, int64_t batch_dims, bool broadcast,
                              std::string_view out_of_range, std::string_view negative,
                              nb::handle fill_value, nb::handle dtype, int threads) {
  Request request = request_from(op_from_name(op));
  EncodedCall call;
  view_call(call, request.name, data, indices, out);
  set_options(request, {axis, batch_dims, broadcast, out_of_range, negative, fill_value}, nullptr);
  request.indices = call.indices.tensor.spec;
  const DType type = result_type(request.name, call.out, dtype);
  return call.placement.on_gpu ? gather_on_gpu(request, call, out, type)
                               : gather_on_host(request, call, out, type, thread_limit(threads));
}

}  // namespace

bool is_encoded(nb::handle object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == encoded_type;
}

void view_table(TableViews& views, nb::handle object, std::string_view call, Placement* placement) {
  if (!is_encoded(object)) {
    view_known(views.stored, object, {call, Role::kData, nullptr, placement});
    views.spec = views.stored.tensor.spec;
    return;
  }
  views.spec = spec_without_arrays(object);
  const auto view = [&](View& part, const char* name, Role role) {
    const nb::object array = object.attr(name);
    if (!array.is_none()) {
      view_known(part, array, {call, role, nullptr, placement});
    }
    return !array.is_none();
  };
  view(views.stored, "stored", Role::kStored);
  views.spec.stored = views.stored.tensor.spec;
  if (view(views.scales, "scales", Role::kScales)) {
    views.spec.scales = views.scales.tensor.spec;
  }
  if (view(views.zeros, "zeros", Role::kZeros)) {
    views.spec.zeros = views.zeros.tensor.spec;
  }
}

TensorSpec describe_array(nb::handle object, const Argument& argument) {
  if (nb::isinstance<TensorSpec>(object)) {
    auto spec = nb::cast<TensorSpec>(object);
    tidy_strides(spec);
    return spec;
  }
  View view;
  view_known(view, object, argument);
  if (!view.whole_strides) {
    raise_argument(refusal_text("plan: out has strides that are not whole elements",
                                "a plan counts strides in elements",
                                "a contiguous out, then copy it"));
  }
  return view.tensor.spec;
}

EncodedSpec describe_table(nb::handle object, std::string_view call) {
  if (!is_encoded(object)) {
    return describe_array(object, {call, Role::kData});
  }
  EncodedSpec spec = spec_without_arrays(object);
  spec.stored = describe_array(object.attr("stored"), {call, Role::kStored});
  const nb::object scales = object.attr("scales");
  const nb::object zeros = object.attr("zeros");
  if (!scales.is_none()) {
    spec.scales = describe_array(scales, {call, Role::kScales});
  }
  if (!zeros.is_none()) {
    spec.zeros = describe_array(zeros, {call, Role::kZeros});
  }
  return spec;
}

void refuse_other_devices(std::string_view call, const Placement& placement,
                          const std::vector<NamedView>& views) {
  if (!placement.on_gpu) {
    return;
  }
  std::string places;
  const char* other = nullptr;
  for (const auto& [name, view] : views) {
    if (view->object.is_valid()) {  // else it was not passed
      const bool here = same_device(view->device, placement.device);
      places += cat(places.empty() ? "" : ", ", name, " is on ", text_of(view->device));
      other = other == nullptr && !here ? name : other;
    }
  }
  if (other != nullptr) {
    raise_argument(refusal_text(cat(call, ": arrays on different devices"), places,
                                cat(other, " moved to ", text_of(placement.device),
                                    "; nothing is copied between devices in silence")));
  }
}

DType dtype_from(nb::handle object, std::string_view call) {
  if (nb::isinstance<nb::str>(object)) {
    return dtype_from_name(nb::cast<std::string>(object));
  }
  const nb::object descr = nb::module_::import_("numpy").attr("dtype")(object);
  return dtype_from_numpy(reinterpret_cast<PyArray_Descr*>(descr.ptr()), {call, Role::kData});
}

void bind_encoded(nb::module_& module) {
  module.def("set_encoded_type",
             [](nb::handle type) { encoded_type = nb::borrow(type).release().ptr(); });
  module.def("check_encoded", check_encoded, "encoded"_a,
             "Refuses a description whose parts do not go together.");
  module.def("elements_of_row", elements_of_row, "encoding"_a, "bytes"_a,
             "The most elements that a row of so many bytes has; -1: no row has that length.");
  module.def(
      "encoded_row_bytes",
      [](const std::string& encoding, int64_t elements) {
        return encoded_row_bytes(encoding_from_name(encoding), elements);
      },
      "encoding"_a, "elements"_a, "Bytes that the elements of a row take up.");
  module.def("run_encoded_gather", run_encoded_gather, "op"_a, "data"_a, "indices"_a.none(),
             "out"_a.none(), nb::kw_only(), "axis"_a = 0, "batch_dims"_a = 0, "broadcast"_a = false,
             "out_of_range"_a = "fail", "negative"_a = "from_end", "fill_value"_a.none() = 0,
             "dtype"_a.none() = nb::none(), "threads"_a = 0);
}

}  // namespace sheaf::python

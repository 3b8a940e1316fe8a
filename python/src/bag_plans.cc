// SPDX-License-Identifier: MIT
//
// BagPlan, and the function that makes one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <variant>

#include "bags.h"
#include "bindings.h"
#include "errors.h"
#include "execution/registry.h"
#include "execution/run_bag.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr char kRunSignature[] =
    "def run(self, data: typing.Any, indices: typing.Any = None, segments: typing.Any = None, "
    "weights: typing.Any = None, out: typing.Any = None, *, threads: int = 0) -> typing.Any";
constexpr char kRunDoc[] =
    R"(Pools the rows. The arrays must be laid out as those that were planned for; segments are the
offsets, lengths or ids.)";

std::optional<TensorSpec> optional_spec(nb::handle object, std::string_view call, Role role,
                                        const Elements* like = nullptr) {
  return object.is_none() ? std::nullopt
                          : std::optional(describe_array(object, {call, role, like}));
}

BagPlan plan_bag(std::string_view call, nb::handle data, nb::handle indices, nb::handle segments,
                 nb::handle weights, nb::handle out, std::string_view pool, std::string_view form,
                 bool last_offset, int64_t bags, nb::handle padding_index, nb::handle empty_value,
                 std::string_view accumulate, nb::handle dtype, std::string_view out_of_range,
                 std::string_view negative, nb::handle fill_value) {
  BagRequest request;
  request.name = call == "segment_reduce" ? "segment_reduce" : "bag";
  request.specs.data = describe_table(data, request.name);
  request.specs.indices = optional_spec(indices, request.name, Role::kIndices);
  request.specs.segments = optional_spec(segments, request.name, Role::kSegments);
  const Elements like = weights_of(request.specs.data);
  request.specs.weights = optional_spec(weights, request.name, Role::kWeights, &like);
  request.options = bag_options(request.name,
                                {pool, form, last_offset, bags, padding_index, empty_value,
                                 accumulate, dtype, out_of_range, negative, fill_value},
                                nullptr);
  request.output = optional_spec(out, request.name, Role::kOutput);
  if (request.output && !request.options.output_type) {
    request.options.output_type = request.output->dtype;
  }
  return bag_plan(request);
}

bool same_table(const EncodedSpec& a, const EncodedSpec& b) {
  return a.encoding == b.encoding && a.sizes == b.sizes && a.stored == b.stored &&
         a.scales == b.scales && a.zeros == b.zeros && a.block == b.block && a.axis == b.axis &&
         a.usual_zero == b.usual_zero;
}

void refuse_other(const BagPlan& plan, const char* name, const std::string& got,
                  const std::string& planned) {
  raise_argument(refusal_text(cat(plan.request().name, ": ", name, " differs from the plan's"),
                              cat("got ", got, ", planned for ", planned),
                              "a plan for these arrays"));
}

void check_same(const BagPlan& plan, const char* name, const std::optional<TensorSpec>& got,
                const std::optional<TensorSpec>& planned) {
  const auto text = [](const std::optional<TensorSpec>& spec) {
    return spec ? spec->str() : std::string("none");
  };
  if (got != planned) {
    refuse_other(plan, name, text(got), text(planned));
  }
}

nb::object run_plan(const BagPlan& plan, nb::handle data, nb::handle indices, nb::handle segments,
                    nb::handle weights, nb::handle out, int threads) {
  const BagRequest& request = plan.request();
  BagArrays arrays;
  view_bag(arrays, request.name, {data, indices, segments, weights, out});
  const BagSpecs specs = arrays.specs();
  if (!same_table(specs.data, request.specs.data)) {
    refuse_other(plan, "data", specs.data.str(), request.specs.data.str());
  }
  check_same(plan, "indices", specs.indices, request.specs.indices);
  check_same(plan, "segments", specs.segments, request.specs.segments);
  check_same(plan, "weights", specs.weights, request.specs.weights);
  const int limit = thread_limit(threads);
  const auto run = [&](void* output, bool fresh) {
    run_bag_at(arrays.placement, plan, arrays.memory(output), limit, fresh,
               [&] { refuse_changed(arrays, request.name); });
  };
  if (!out.is_none()) {
    check_same(plan, "out", arrays.out.tensor.spec, plan.output());
    run(arrays.out.tensor.data, false);
    return nb::borrow(out);
  }
  const TensorSpec contiguous(plan.output().dtype, plan.output().sizes);
  check_same(plan, "out", contiguous, plan.output());
  Result result(arrays.data.stored, contiguous);
  run(result.memory(), true);
  return result.finish(false);
}

nb::object spec_or_none(const std::optional<TensorSpec>& spec) {
  return spec ? nb::cast(*spec) : nb::none();
}

std::string repr_of(const BagPlan& plan) {
  const BagSpecs& specs = plan.request().specs;
  std::string text = cat("<sheaf.BagPlan ", to_string(plan.nest().pool), ": ", specs.data.str());
  for (const auto* spec : {&specs.indices, &specs.segments, &specs.weights}) {
    text += *spec ? cat(", ", (*spec)->str()) : "";
  }
  return cat(text, " -> ", plan.output().str(), ">");
}

// Each kernel of the host in the order they are asked, and why it refuses (empty: it accepts).
nb::list kernels(const BagPlan& plan) {
  nb::list all;
  for (const Backend* backend : host_backends()) {
    for (const BagKernel& kernel : backend->bag) {
      const char* const why = kernel.refusal(plan.nest());
      all.append(nb::make_tuple(std::string(kernel.name), why == nullptr ? "" : why));
    }
  }
  return all;
}

nb::object number_of(const Scalar& scalar) {
  return std::visit([](const auto& value) -> nb::object { return nb::cast(value); },
                    scalar.value());
}

nb::dict options_of(const BagPlan& plan) {
  const BagOptions& o = plan.request().options;
  nb::dict options;
  const auto text = [](std::string_view word) { return std::string(word); };
  options["pool"] = text(to_string(o.pool));
  options["form"] = text(to_string(o.segments));
  options["last_offset"] = o.last_offset;
  options["bags"] = o.bags;
  options["padding_index"] = o.padding_index ? nb::cast(*o.padding_index) : nb::none();
  options["empty_value"] = number_of(o.empty_value);
  options["accumulate"] = o.accumulate_f32 ? "f32" : "";
  options["dtype"] = plan.output().dtype.name();
  options["out_of_range"] = text(to_string(o.rule.out_of_range));
  options["negative"] = text(to_string(o.rule.negative));
  options["fill_value"] = number_of(o.rule.fill_value);
  return options;
}

// A table as what sheaf.Encoded is made of.
nb::object table_of(const EncodedSpec& spec) {
  if (spec.encoding == Encoding::kPlain) {
    return nb::cast(spec.stored);
  }
  return nb::make_tuple(std::string(to_string(spec.encoding)), spec.stored,
                        spec_or_none(spec.scales), spec_or_none(spec.zeros), tuple_of(spec.sizes),
                        spec.block, spec.axis, spec.usual_zero);
}

// A plan is pickled as the call that makes it again.
nb::tuple reduce(const BagPlan& plan) {
  const BagRequest& r = plan.request();
  return nb::make_tuple(
      nb::module_::import_("sheaf._bags").attr("plan_again"),
      nb::make_tuple(std::string(r.name), table_of(r.specs.data), spec_or_none(r.specs.indices),
                     spec_or_none(r.specs.segments), spec_or_none(r.specs.weights), plan.output(),
                     options_of(plan)));
}

}  // namespace

void bind_bag_plans(nb::module_& module) {
  nb::class_<BagPlan>(module, "BagPlan",
                      "One bag, decided: run it as often as you like, from any thread.")
      .def("run", run_plan, "data"_a.none(), "indices"_a = nb::none(), "segments"_a = nb::none(),
           "weights"_a = nb::none(), "out"_a = nb::none(), nb::kw_only(), "threads"_a = 0,
           nb::sig(kRunSignature), kRunDoc)
      .def("json", &BagPlan::json, "The plan as a JSON text.")
      .def_prop_ro("bags", &BagPlan::bags, "How many bags there are.")
      .def_prop_ro("output", [](const BagPlan& plan) { return plan.output(); })
      .def_prop_ro(
          "data", [](const BagPlan& plan) { return plan.request().specs.data.stored; },
          "Of an encoded table, its bytes.")
      .def_prop_ro(
          "indices", [](const BagPlan& plan) { return spec_or_none(plan.request().specs.indices); },
          nb::sig("def indices(self) -> Spec | None"))
      .def_prop_ro(
          "segments",
          [](const BagPlan& plan) { return spec_or_none(plan.request().specs.segments); },
          nb::sig("def segments(self) -> Spec | None"), "Offsets, lengths or ids.")
      .def_prop_ro(
          "weights", [](const BagPlan& plan) { return spec_or_none(plan.request().specs.weights); },
          nb::sig("def weights(self) -> Spec | None"))
      .def_prop_ro(
          "shape", [](const BagPlan& plan) { return tuple_of(plan.output().sizes); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The output's shape.")
      .def_prop_ro(
          "dtype", [](const BagPlan& plan) { return plan.output().dtype.name(); },
          "The name of the output's element type.")
      .def_prop_ro("options", options_of, nb::sig("def options(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "table_shape",
          [](const BagPlan& plan) { return tuple_of(plan.request().specs.data.sizes); },
          nb::sig("def table_shape(self) -> tuple[int, ...]"), "The shape of data, decoded.")
      .def_prop_ro("kernels", kernels, nb::sig("def kernels(self) -> list[tuple[str, str]]"),
                   "Each kernel in the order they are asked, and why it refuses (empty: it "
                   "accepts).")
      .def("__str__", &BagPlan::str)
      .def("__repr__", repr_of)
      .def("__reduce__", reduce, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  module.def("plan_bag", plan_bag, "call"_a, "data"_a.none(), "indices"_a.none(),
             "segments"_a.none(), "weights"_a.none(), "out"_a.none(), nb::kw_only(),
             "pool"_a = "sum", "form"_a = "offsets", "last_offset"_a = false, "bags"_a = -1,
             "padding_index"_a.none() = nb::none(), "empty_value"_a.none() = 0,
             "accumulate"_a = "f32", "dtype"_a.none() = nb::none(), "out_of_range"_a = "fail",
             "negative"_a = "from_end", "fill_value"_a.none() = 0);
}

}  // namespace sheaf::python

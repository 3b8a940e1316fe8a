// SPDX-License-Identifier: MIT
//
// Gradients of bags, on the host and on GPUs that have them. sheaf.torch and sheaf.jax call them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <functional>
#include <optional>
#include <string_view>

#include "arrays.h"
#include "bags.h"
#include "bindings.h"
#include "errors.h"
#include "execution/registry.h"
#include "gpu_run.h"
#include "plan/bag_gradient.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr const char* kCall = "bag_gradient";

// What the caller passed; None where the bag has no such array.
struct GradientPassed {
  nb::handle gradient, data, indices, segments, weights;
  nb::handle out = nb::none();
};

struct GradientKeywords {
  int64_t extent;
  BagKeywords bag;
  int threads;
};

// The arrays of a call as tensors; the views keep their memory.
class GradientArrays {
 public:
  explicit GradientArrays(const GradientPassed& passed) {
    placement_.inside_operator = true;  // what has a gradient of its own is the caller's to know
    view(gradient_, passed.gradient, Role::kUpdates);
    view(data_, passed.data, Role::kData);
    view(indices_, passed.indices, Role::kIndices);
    view(segments_, passed.segments, Role::kIndices);
    view(weights_, passed.weights, Role::kUpdates);
    view(out_, passed.out, Role::kOutput);
    if (on_gpu() && device_backend(gpu::name_of(placement_.device)).bag_gradient == nullptr) {
      raise_unsupported(refusal_text(
          cat(kCall, ": not an array of the host"),
          cat("there are no gradients of bags on device ", gpu::name_of(placement_.device)),
          "arrays of the host"));
    }
  }

  bool on_gpu() const { return placement_.on_gpu; }
  const Placement& placement() const { return placement_; }
  const View& gradient() const { return gradient_; }
  const View& weights() const { return weights_; }
  const View& out() const { return out_; }

  BagPlan bag(const GradientKeywords& keywords) const {
    const TensorSpec& gradient = gradient_.tensor.spec;
    BagRequest request;
    request.specs = {EncodedSpec(table(gradient, keywords.extent)), spec_of(indices_),
                     spec_of(segments_), spec_of(weights_)};
    request.options = bag_options(kCall, keywords.bag, nullptr);
    request.options.output_type = gradient.dtype;
    return make_bag_plan(request);
  }

  BagGradientMemory memory() const {
    BagGradientMemory memory;
    memory.bag = {.stored = data_.tensor.data,
                  .indices = indices_.tensor.data,
                  .segments = segments_.tensor.data,
                  .weights = weights_.tensor.data};
    memory.gradient = gradient_.tensor.data;
    memory.output = out_.tensor.data;
    return memory;
  }

  void refuse_changed() const {
    for (const View* view : {&gradient_, &data_, &indices_, &segments_, &weights_, &out_}) {
      refuse_if_changed(*view, kCall);
    }
  }

 private:
  void view(View& into, nb::handle object, Role role) {
    if (object.is_none()) {
      return;
    }
    view_array(into, object, {kCall, role, nullptr, &placement_});
    refuse_large_elements(into);
    if (!into.whole_strides) {
      raise_argument(refusal_text(cat(kCall, ": out has strides that are not whole elements"),
                                  "rows are added to it in place", "a contiguous out"));
    }
  }

  static std::optional<TensorSpec> spec_of(const View& view) {
    return view.object.is_valid() ? std::optional(view.tensor.spec) : std::nullopt;
  }

  // Where the table is not read, as many rows of the gradient's kind.
  TensorSpec table(const TensorSpec& gradient, int64_t extent) const {
    if (data_.object.is_valid()) {
      return data_.tensor.spec;
    }
    if (extent < 0 || gradient.rank() == 0) {
      raise_argument(refusal_text(cat(kCall, ": how many rows has the table?"),
                                  cat("there is no data, and extent=", extent),
                                  "data, or extent, and a gradient of one dimension or more"));
    }
    Dims sizes = gradient.sizes;
    sizes[0] = extent;
    return {gradient.dtype, sizes, Dims(sizes.size(), 0)};  // it has no memory
  }

  Placement placement_;
  View gradient_, data_, indices_, segments_, weights_, out_;
};

// The plan for the gradient of `of`, refusals translated.
BagGradientPlan gradient_plan(const GradientArrays& arrays, const GradientKeywords& keywords,
                              BagGradientOf of) {
  try {
    BagGradientOptions options{.gradient = arrays.gradient().tensor.spec};
    if (arrays.out().object.is_valid()) {
      options.output = arrays.out().tensor.spec;
      options.add = true;
    }
    return plan_bag_gradient(arrays.bag(keywords), of, options);
  } catch (const Error& error) {
    raise_by_cause(error);
  }
}

// i64, of NumPy or of the library of `like`.
nb::object index_array(const View& like, const nb::object& rows) {
  return like.is_numpy()
             ? rows
             : nb::module_::import_("sheaf._interop").attr("array_like")(like.object, rows);
}

nb::object new_rows(int64_t count) {
  npy_intp length = count;
  PyObject* const made = PyArray_SimpleNew(1, &length, NPY_INT64);
  if (made == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(made);
}

// On a GPU there is memory for as many rows as there can be, and what is returned is the first part
// of it. The number of rows is waited for.
nb::object rows_on_gpu(const GradientArrays& arrays, const BagGradientPlan& plan) {
  const Placement& placement = arrays.placement();
  const gpu::DeviceGuard guard(placement.device);
  if (gpu::capturing(placement.stream)) {
    raise_unsupported(refusal_text(cat(kCall, ": not while a graph is captured"),
                                   "how many rows are named is known when the run has ended",
                                   "the gradient of the whole table"));
  }
  Result rows(arrays.gradient(), TensorSpec(i64, {plan.output().sizes[0]}));
  Result values(arrays.gradient(), plan.output());
  BagGradientMemory memory = arrays.memory();
  memory.rows = rows.memory();
  memory.output = values.memory();
  const GpuMemory workspace =
      spare_memory(placement, workspace_bytes(plan, gpu::queue_at(placement, {})));
  arrays.refuse_changed();
  const Queue queue = gpu::queue_at(placement, workspace.view);
  int64_t count = 0;
  without_gil([&] {
    run(plan, memory, queue);
    finish(plan, queue);
    count = named_rows(plan, queue);
  });
  keep_spare(placement, workspace);
  const nb::object first = nb::slice(nb::int_(0), nb::int_(count), nb::int_(1));
  return nb::make_tuple(rows.finish(false)[first], values.finish(false)[first]);
}

nb::object gradient_of_rows(const GradientPassed& passed, const GradientKeywords& keywords) {
  const GradientArrays arrays(passed);
  const BagGradientPlan plan = gradient_plan(arrays, keywords, BagGradientOf::kRows);
  if (arrays.on_gpu()) {
    return rows_on_gpu(arrays, plan);
  }
  const RunOptions options{.threads = thread_limit(keywords.threads)};
  BagGradientMemory memory = arrays.memory();
  std::optional<BagEntries> entries;
  arrays.refuse_changed();
  without_gil([&] { entries = plan.entries(memory.bag, options); });
  Dims sizes = plan.output().sizes;
  sizes[0] = entries->rows();
  const nb::object rows = new_rows(entries->rows());
  Result values(arrays.gradient(), TensorSpec(plan.output().dtype, sizes));
  memory.rows = PyArray_DATA(as_array(rows.ptr()));
  memory.output = values.memory();
  arrays.refuse_changed();
  without_gil([&] { plan.run(*entries, memory, options); });
  return nb::make_tuple(index_array(arrays.gradient(), rows), values.finish(false));
}

// Into out, or into a new array of the kind of `like`.
nb::object gradient_of(const GradientPassed& passed, const GradientKeywords& keywords,
                       BagGradientOf of) {
  const GradientArrays arrays(passed);
  const BagGradientPlan plan = gradient_plan(arrays, keywords, of);
  const RunOptions options{.threads = thread_limit(keywords.threads)};
  BagGradientMemory memory = arrays.memory();
  std::optional<Result> result;
  if (passed.out.is_none()) {
    result.emplace(of == BagGradientOf::kWeights ? arrays.weights() : arrays.gradient(),
                   plan.output());
    memory.output = result->memory();
  }
  if (arrays.on_gpu()) {
    const bool fails = plan.bag().checked_gather() != nullptr || plan.bag().nest().per_bag < 0;
    run_on_gpu(
        arrays.placement(), plan, fails, false,
        [&](const Queue& queue, const RunOptions& on_gpu) { run(plan, memory, queue, on_gpu); },
        std::function<void()>([&] { arrays.refuse_changed(); }));
  } else {
    arrays.refuse_changed();
    without_gil([&] { plan.run(plan.entries(memory.bag, options), memory, options); });
  }
  return result ? result->finish(false) : nb::borrow(passed.out);
}

// Binds call(passed, keywords) under `name`, with `out` if it has one.
template <class Call, class... Out>
void bind(nb::module_& module, const char* name, Call call, Out... out) {
  const auto with_keywords = [call](GradientPassed passed, int64_t extent, std::string_view pool,
                                    std::string_view form, bool last_offset, int64_t bags,
                                    nb::handle padding_index, std::string_view out_of_range,
                                    std::string_view negative, nb::handle fill_value,
                                    std::string_view accumulate, int threads) {
    return call(passed, GradientKeywords{extent,
                                         {.pool = pool,
                                          .form = form,
                                          .last_offset = last_offset,
                                          .bags = bags,
                                          .padding_index = padding_index,
                                          .accumulate = accumulate,
                                          .out_of_range = out_of_range,
                                          .negative = negative,
                                          .fill_value = fill_value},
                                         threads});
  };
  const auto define = [&](auto function) {
    module.def(name, function, "gradient"_a, "data"_a.none(), "indices"_a.none(),
               "segments"_a.none(), "weights"_a.none(), out..., nb::kw_only(), "extent"_a = -1,
               "pool"_a = "sum", "form"_a = "offsets", "last_offset"_a = false, "bags"_a = -1,
               "padding_index"_a.none() = nb::none(), "out_of_range"_a = "fail",
               "negative"_a = "from_end", "fill_value"_a.none() = 0, "accumulate"_a = "f32",
               "threads"_a = 0);
  };
  if constexpr (sizeof...(Out) == 0) {
    define([with_keywords](nb::handle gradient, nb::handle data, nb::handle indices,
                           nb::handle segments, nb::handle weights, int64_t extent,
                           std::string_view pool, std::string_view form, bool last_offset,
                           int64_t bags, nb::handle padding_index, std::string_view out_of_range,
                           std::string_view negative, nb::handle fill_value,
                           std::string_view accumulate, int threads) {
      return with_keywords({gradient, data, indices, segments, weights}, extent, pool, form,
                           last_offset, bags, padding_index, out_of_range, negative, fill_value,
                           accumulate, threads);
    });
  } else {
    define([with_keywords](nb::handle gradient, nb::handle data, nb::handle indices,
                           nb::handle segments, nb::handle weights, nb::handle into, int64_t extent,
                           std::string_view pool, std::string_view form, bool last_offset,
                           int64_t bags, nb::handle padding_index, std::string_view out_of_range,
                           std::string_view negative, nb::handle fill_value,
                           std::string_view accumulate, int threads) {
      return with_keywords({gradient, data, indices, segments, weights, into}, extent, pool, form,
                           last_offset, bags, padding_index, out_of_range, negative, fill_value,
                           accumulate, threads);
    });
  }
}

}  // namespace

void bind_bag_gradients(nb::module_& module) {
  bind(module, "bag_gradient_rows", gradient_of_rows);
  bind(
      module, "bag_gradient_dense",
      [](const GradientPassed& passed, const GradientKeywords& keywords) {
        return gradient_of(passed, keywords, BagGradientOf::kData);
      },
      "out"_a.none());
  bind(module, "bag_gradient_weights",
       [](const GradientPassed& passed, const GradientKeywords& keywords) {
         return gradient_of(passed, keywords, BagGradientOf::kWeights);
       });
}

}  // namespace sheaf::python

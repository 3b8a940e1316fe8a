// SPDX-License-Identifier: MIT
//
// Tables that are split over a group of processes (sheaf/sharded.h), whose transport is a function
// of Python. sheaf/_sharded.py has the signatures that users see.
//
// Whatever may fail on one rank alone, reading an argument included, happens in agree(): an error
// there is raised on all ranks, and nobody waits for a rank that has given up.
#include <nanobind/stl/string_view.h>

#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "bindings.h"
#include "call.h"
#include "distributed/group.h"
#include "distributed/sharded_plan.h"
#include "distributed/sharded_tensor.h"
#include "errors.h"
#include "sheaf/sharded.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using distributed::Group;
using nb::literals::operator""_a;
using sharded::Part;
using sharded::ShardedTensor;
using sharded::Transport;

nb::object view_bytes(const void* data, int64_t bytes, int flags) {
  static char nothing = 0;  // Python wants an address also for no bytes
  auto* const memory = bytes > 0 ? static_cast<char*>(const_cast<void*>(data)) : &nothing;
  return nb::steal(PyMemoryView_FromMemory(memory, bytes, flags));
}

// exchange(to, from) gets a memoryview for each rank, and returns how many bytes arrived.
std::shared_ptr<Transport> transport_of(int rank, int ranks, const nb::callable& exchange) {
  // Owned by the function itself: the last copy may go where Python's lock is not held.
  const std::shared_ptr<nb::callable> call(new nb::callable(exchange), [](nb::callable* owned) {
    const nb::gil_scoped_acquire lock;
    delete owned;
  });
  const auto run = [call](std::span<const Transport::Outgoing> to,
                          std::span<const Transport::Incoming> from) {
    const nb::gil_scoped_acquire lock;
    nb::list sent, received;
    for (const Transport::Outgoing& message : to) {
      sent.append(view_bytes(message.data, message.bytes, PyBUF_READ));
    }
    for (const Transport::Incoming& message : from) {
      received.append(view_bytes(message.data, message.bytes, PyBUF_WRITE));
    }
    return nb::cast<int64_t>((*call)(sent, received));
  };
  return std::make_shared<sharded::CallbackTransport>(rank, ranks, run);
}

// Collective. Errors of Python travel as refusals of Sheaf's.
template <class Work>
void agree(const Group& group, std::string_view who, const Work& work) {
  group.together(who, [&] {
    try {
      work();
    } catch (nb::python_error& error) {
      throw_as_error(error, who);
    } catch (const std::bad_cast&) {
      throw Error(Refusal{.cause = {Reason::kType},
                          .who = std::string(who),
                          .what = "an option has the wrong type",
                          .detail = "a name or a number was expected",
                          .next = "help(sheaf)"});
    }
  });
}

void refuse_device(std::string_view who, const View& shard) {
  refuse_large_elements(shard);
  if (shard.on_gpu()) {
    raise_unsupported(refusal_text(cat(who, ": shard on a GPU"),
                                   "rows of a sharded table are exchanged through host memory",
                                   "a shard on the CPU"));
  }
}

class ShardedTable {
 public:
  ShardedTable(int rank, int ranks, const nb::callable& exchange, nb::handle shard, nb::handle axis,
               nb::handle workspace_bytes) try {
    const auto transport = transport_of(rank, ranks, exchange);
    const Group group(transport);
    View view;
    int64_t split_axis = 0;
    agree(group, kWho, [&] {
      view_array(view, shard, {kWho, Role::kData});
      refuse_device(kWho, view);
      split_axis = integer_from(axis);
      options_.workspace_bytes = integer_from(workspace_bytes);
    });
    // Dates and records, which NumPy alone tells apart.
    group.same_everywhere(kWho, view.is_numpy() ? nb::str(view.dtype).c_str() : "");
    tensor_.emplace(transport, split_axis, Part(ConstTensor(view.tensor)));
  } catch (const Error& error) {
    raise_by_cause(error);
  }

  nb::tuple shape() const { return tuple_of(tensor_->spec().sizes); }

  // `shard`: where this rank's entries are now.
  nb::object gather(std::string_view op, nb::handle shard, nb::handle indices,
                    nb::handle out_of_range, nb::handle negative, nb::handle fill_value) try {
    Call call;
    std::optional<Result> result;
    agree(group(), op, [&] {
      call.arrays = view_arrays(op, {shard, indices, nb::none()});
      call.request = request_from(op_from_name(op));
      set_options(call.request,
                  GatherKeywords{.axis = axis(op),
                                 .out_of_range = text(out_of_range),
                                 .negative = text(negative),
                                 .fill_value = fill_value},
                  call.arrays.data.descr());
      prepare(call, Part(ConstTensor(call.arrays.data.tensor)));
      result.emplace(call.arrays.data, make_plan(call.request).output());
    });
    {
      const nb::gil_scoped_release unlocked;
      auto plan = sharded::make_sharded_plan(*call.tensor, call.request, options_);
      plan.run(call.arrays.indices.tensor, {result->memory(), plan.output()});
    }
    return result->finish(false);
  } catch (const Error& error) {
    raise_by_cause(error);
  }

  void scatter(std::string_view op, nb::handle shard, nb::handle indices, nb::handle updates,
               nb::handle reduction, nb::handle include_self, nb::handle out_of_range,
               nb::handle negative) try {
    Call call;
    agree(group(), op, [&] {
      Arrays& arrays = call.arrays;
      arrays = view_arrays(op, {shard, indices, shard, updates});
      call.request = request_from(op_from_name(op));
      set_options(call.request,
                  ScatterKeywords{.axis = axis(op),
                                  .reduction = text(reduction),
                                  .include_self = nb::cast<bool>(include_self),
                                  .out_of_range = text(out_of_range),
                                  .negative = text(negative)},
                  arrays.data.descr());
      const TensorSpec given = arrays.updates.tensor.spec;
      arrays.updates = flattened(arrays.updates, arrays.placement, op);
      arrays.updates.tensor.spec = TensorSpec(given.dtype, given.sizes);
      call.request.updates = arrays.updates.tensor.spec;
      prepare(call, Part(arrays.out.tensor));
    });
    {
      const nb::gil_scoped_release unlocked;
      sharded::make_sharded_plan(*call.tensor, call.request, options_)
          .scatter(call.arrays.indices.tensor, call.arrays.updates.tensor);
    }
    if (array_type_of(shard).library == Library::kTorch) {
      count_change(shard);
    }
  } catch (const Error& error) {
    raise_by_cause(error);
  }

 private:
  static constexpr const char* kWho = "sharded table";

  struct Call {
    Arrays arrays;
    Request request;
    std::optional<ShardedTensor> tensor;
  };

  const Group& group() const { return *tensor_->state().group; }

  // Tuples start at axis 0.
  int64_t axis(std::string_view op) const { return op.ends_with("_nd") ? 0 : tensor_->axis(); }

  static std::string_view text(nb::handle name) { return nb::cast<std::string_view>(name); }

  void prepare(Call& call, const Part& part) const {
    refuse_device(call.request.name, call.arrays.data);
    call.tensor = tensor_->with_part(part);
    call.request.data = call.tensor->spec();
    call.request.indices = call.arrays.indices.tensor.spec;
  }

  sharded::ShardedOptions options_;
  std::optional<ShardedTensor> tensor_;
};

}  // namespace

void bind_sharded(nb::module_& module) {
  nb::class_<ShardedTable>(module, "ShardedTable")
      .def(nb::init<int, int, const nb::callable&, nb::handle, nb::handle, nb::handle>(), "rank"_a,
           "ranks"_a, "exchange"_a, "shard"_a.none(), "axis"_a.none(), "workspace_bytes"_a.none())
      .def_prop_ro("shape", &ShardedTable::shape)
      .def("gather", &ShardedTable::gather, "op"_a, "shard"_a.none(), "indices"_a.none(),
           "out_of_range"_a.none(), "negative"_a.none(), "fill_value"_a.none())
      .def("scatter", &ShardedTable::scatter, "op"_a, "shard"_a.none(), "indices"_a.none(),
           "updates"_a.none(), "reduction"_a.none(), "include_self"_a.none(),
           "out_of_range"_a.none(), "negative"_a.none());
}

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
#include "frontends/c/bag_call.h"

#include "frontends/c/options.h"
#include "frontends/c/plan.h"
#include "plan/encoded_rows.h"
#include "support/text.h"

namespace sheaf {
namespace {

// The constants of sheaf/c_bags.h are those of the enumerations.
static_assert(SHEAF_Q6_K == static_cast<int>(Encoding::kQ6K) &&
              SHEAF_ROW_U8_F32 == static_cast<int>(Encoding::kRowU8F32) &&
              SHEAF_F4E2M1 == static_cast<int>(Encoding::kF4E2M1));
static_assert(SHEAF_POOL_SQRTN == static_cast<int>(Pool::kSqrtN) &&
              SHEAF_POOL_MAX == static_cast<int>(Pool::kMax) &&
              SHEAF_IDS == static_cast<int>(SegmentForm::kIds));

// What refusals of options show: the bag as a gather of rows, as far as it is known.
Request shown(std::string_view call, const TensorSpec& data) {
  Request r = request_from(Op::kGather);
  r.name = call;
  r.data = data;
  return r;
}

template <class Value, class Rows>
Value option(const Request& r, const char* field, int32_t value, const Rows& rows) {
  if (static_cast<size_t>(value) >= rows.size()) {  // negative ones are large then
    refuse_option(r, field, value, static_cast<int>(rows.size()) - 1);
  }
  return rows[static_cast<size_t>(value)].value;
}

// Null where the caller has no such tensor.
std::optional<TensorSpec> read_optional(const DLTensor* tensor, const char* name,
                                        const void*& memory, std::string_view call,
                                        Placement& placement) {
  if (tensor == nullptr) {
    return std::nullopt;
  }
  const Tensor read = placement.place(*tensor, {call, name});
  memory = read.data;
  return read.spec;
}

void read_options(const sheaf_bag_options* given, CBag& bag) {
  const sheaf_bag_options o = or_defaults(given);
  const Request r = shown(bag.request.name, bag.request.specs.data.stored);
  BagOptions& options = bag.request.options;
  options.pool = option<Pool>(r, "pool", o.pool, kPools);
  options.segments = option<SegmentForm>(r, "form", o.form, kSegmentForms);
  options.last_offset = o.last_offset != 0;
  options.bags = o.bags;
  if (o.has_padding != 0) {
    options.padding_index = o.padding;
  }
  options.empty_value = scalar(r, "empty_value", o.empty_value);
  options.accumulate_f32 = o.accumulate_narrow == 0;
  if (o.output_type.code != 0 || o.output_type.bits != 0 || o.output_type.lanes != 0) {
    options.output_type = dtype_from_dlpack(o.output_type, {bag.request.name, "output_type"});
  }
  options.rule = index_rule(r, o.rule);
}

sheaf_bag_tensors required_tensors(const sheaf_bag_tensors* given, const CBag& bag) {
  if (given == nullptr) {
    refuse_null(bag.request.name, "tensors", "the address of a sheaf_bag_tensors");
  }
  return or_defaults(given);
}

void read_inputs(const EncodedSpec& data, const sheaf_bag_tensors& tensors, CBag& bag) {
  const std::string_view call = bag.request.name;
  BagMemory& memory = bag.memory;
  bag.request.specs = {
      data, read_optional(tensors.indices, "indices", memory.indices, call, bag.placement),
      read_optional(tensors.segments, "segments", memory.segments, call, bag.placement),
      read_optional(tensors.weights, "weights", memory.weights, call, bag.placement)};
}

}  // namespace

Encoded read_table(const sheaf_table* given, std::string_view call, Placement& placement) {
  if (given == nullptr) {
    refuse_null(call, "data", "the address of a sheaf_table");
  }
  const sheaf_table table = or_defaults(given);
  const DlpackArgument argument{call, "data"};
  const Tensor stored = placement.place(required_tensor(table.stored, argument), argument);
  Encoded data(stored);
  const Request r = shown(call, stored.spec);
  constexpr int kLast = SHEAF_Q6_K;
  if (table.encoding < 0 || table.encoding > kLast) {
    refuse_option(r, "encoding", table.encoding, kLast);
  }
  EncodedSpec& spec = data.spec;
  spec.encoding = static_cast<Encoding>(table.encoding);
  if (table.sizes.count != 0 || spec.encoding != Encoding::kPlain) {
    spec.sizes = dims(r, "sizes", table.sizes);
  }
  spec.scales = read_optional(table.scales, "scales", data.scales, call, placement);
  spec.zeros = read_optional(table.zeros, "zeros", data.zeros, call, placement);
  spec.block = table.block;
  spec.axis = table.has_axis != 0 ? table.axis : -1;
  spec.usual_zero = table.usual_zero;
  return data;
}

void read_bag_tensors(const sheaf_bag_tensors* given, CBag& bag) {
  const sheaf_bag_tensors tensors = required_tensors(given, bag);
  const Encoded data = read_table(tensors.data, bag.request.name, bag.placement);
  read_inputs(data.spec, tensors, bag);
  BagMemory& memory = bag.memory;
  memory.stored = data.stored;
  memory.scales = data.scales;
  memory.zeros = data.zeros;
}

CBag read_bag(const sheaf_bag_tensors* tensors, const sheaf_bag_options* options) {
  CBag bag;
  read_bag_tensors(tensors, bag);
  read_options(options, bag);
  return bag;
}

CBag read_bag_of(const EncodedSpec& data, const sheaf_bag_tensors* given,
                 const sheaf_bag_options* options) {
  CBag bag;
  const sheaf_bag_tensors tensors = required_tensors(given, bag);
  read_inputs(data, tensors, bag);
  if (tensors.data != nullptr) {
    refuse(bag.request, {Reason::kMemory, "data"}, "data beside a table",
           "tensors->data is not null, but the rows are the table's", "data = NULL");
  }
  read_options(options, bag);
  return bag;
}

BagPlan plan_of_bag(CBag& bag, const TensorSpec* output) {
  BagRequest& request = bag.request;
  if (output != nullptr) {
    request.output = *output;
    request.options.output_type = request.options.output_type.value_or(output->dtype);
  }
  return make_bag_plan(request);
}

Tensor read_required(const DLTensor* tensor, const char* name, CBag& bag) {
  const DlpackArgument argument{bag.request.name, name};
  return bag.placement.place(required_tensor(tensor, argument), argument);
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// Bags: what is refused, and what a kernel is told.
#include "plan/bag.h"

#include <algorithm>
#include <utility>

#include "plan/byte_ranges.h"
#include "plan/request.h"
#include "plan/scalar.h"
#include "plan/vocabulary.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

bool is_small_float(DType type) {
  return type == f16 || type == bf16 || type == f8e4m3 || type == f8e5m2;
}
bool is_float(DType type) { return is_small_float(type) || type == f32 || type == f64; }

// The stride, in elements, between elements of the dimensions from `first` on, if they are a run at
// one distance.
std::optional<int64_t> run_stride(const TensorSpec& spec, int first) {
  if (std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end()) {
    return 1;  // no stride is used
  }
  int64_t stride = 1;
  int64_t next = 0;
  bool met = false;
  for (int d = spec.rank() - 1; d >= first; --d) {
    if (spec.sizes[d] == 1) {
      continue;
    }
    if (met && spec.strides[d] != next) {
      return std::nullopt;
    }
    stride = met ? stride : spec.strides[d];
    met = true;
    const auto product = checked_mul(spec.sizes[d], spec.strides[d]);
    if (!product) {
      return std::nullopt;
    }
    next = *product;
  }
  return stride;
}

class Builder {
 public:
  explicit Builder(const BagRequest& request) : r_(request) {}

  BagNest nest() {
    check_options();
    set_rows();
    set_entries();
    set_segments();
    set_types();
    set_weights();
    set_output();
    set_values();
    return nest_;
  }
  const TensorSpec& output() const { return output_; }

 private:
  void check_options() const {
    const BagOptions& o = r_.options;
    if (find_row(kPools, o.pool) == nullptr || find_row(kSegmentForms, o.segments) == nullptr) {
      refuse(r_, {Reason::kOption}, "unknown option",
             cat("pool = ", static_cast<int>(o.pool),
                 " and segments = ", static_cast<int>(o.segments), ", but 0..", kPools.size() - 1,
                 " and 0..", kSegmentForms.size() - 1, " have a meaning"),
             "one of the named pools and forms");
    }
    if (find_row(kOutOfRanges, o.rule.out_of_range) == nullptr ||
        find_row(kNegatives, o.rule.negative) == nullptr) {
      refuse(r_, {Reason::kIndexRule}, "unknown index rule",
             cat("negative = ", static_cast<int>(o.rule.negative),
                 " and out_of_range = ", static_cast<int>(o.rule.out_of_range), ", but 0..",
                 kNegatives.size() - 1, " and 0..", kOutOfRanges.size() - 1, " have a meaning"),
             "one of the named rules");
    }
  }

  void set_rows() {
    const EncodedSpec& data = r_.specs.data;
    const bool plain = data.encoding == Encoding::kPlain;
    const int needed = plain ? 1 : 2;
    if (data.sizes.size() < needed) {
      refuse(
          r_, {Reason::kRank, "data"}, "data has no rows",
          cat("data has ", counted(data.sizes.size(), "dimension", "dimensions"),
              ", but entries are picked along the first", plain ? "" : ", and the last is encoded"),
          plain ? "reshape data to [1]" : "reshape data to [rows, elements]");
    }
    nest_.extent = data.sizes[0];
    nest_.elements = 1;
    for (int d = 1; d < data.sizes.size(); ++d) {
      nest_.elements *= data.sizes[d];
    }
    if (!plain) {
      nest_.rows = rows_of(data);
      nest_.rows_per_entry = nest_.rows.elements == 0 ? 1 : nest_.elements / nest_.rows.elements;
      return;
    }
    const auto rows = plain_rows(data.stored);
    if (!rows) {
      refuse(r_, {Reason::kStrides, "data"}, "rows are not at one distance",
             cat("the strides of data behind its first dimension are no single run: ",
                 bracketed(data.stored.strides)),
             "a contiguous copy of data");
    }
    nest_.rows = *rows;
  }

  void set_entries() {
    const auto& indices = r_.specs.indices;
    nest_.indexed = indices.has_value();
    nest_.negative = r_.options.rule.negative;
    nest_.out_of_range = r_.options.rule.out_of_range;
    if (!indices) {
      nest_.entries = nest_.extent;
      nest_.out_of_range = OutOfRange::kTrust;  // nothing is picked
      if (!r_.specs.segments) {
        refuse(r_, {Reason::kShape, "segments"}, "no segments",
               "without indices, only segments say which rows a bag has",
               "offsets, lengths or ids");
      }
      return;
    }
    const bool matrix = !r_.specs.segments;
    if (indices->rank() != (matrix ? 2 : 1)) {
      refuse(r_, {Reason::kRank, "indices"}, "ranks differ",
             cat("indices has ", counted(indices->rank(), "dimension", "dimensions"), ", but ",
                 matrix ? "without segments each row of a matrix is a bag"
                        : "with segments it is a list"),
             matrix ? "indices of two dimensions, or segments" : "indices of one dimension");
    }
    nest_.index_type = indices->dtype;
    nest_.entries = element_count(indices->sizes);
    nest_.indices = entry_places(*indices);
  }

  void set_segments() {
    const BagOptions& o = r_.options;
    const auto& segments = r_.specs.segments;
    nest_.form = o.segments;
    if (!segments) {
      nest_.bags = r_.specs.indices->sizes[0];
      nest_.per_bag = r_.specs.indices->sizes[1];
      return;
    }
    check_segments_tensor(*segments);
    nest_.segment_type = segments->dtype;
    nest_.segments = segments->sizes[0];
    nest_.segment_stride = used_stride(*segments, 0);
    const bool one_more = o.segments == SegmentForm::kOffsets && o.last_offset;
    if (one_more && nest_.segments == 0) {
      refuse(r_, {Reason::kShape, "segments"}, "no last offset",
             "offsets is empty, but its last entry is the end of the last bag",
             "offsets of one entry, or last_offset = false");
    }
    nest_.bags = nest_.segments - (one_more ? 1 : 0);
    if (o.segments == SegmentForm::kIds) {
      if (nest_.segments != nest_.entries || o.bags < 0) {
        refuse(r_, {Reason::kShape, "segments"}, "segments do not fit",
               cat("there are ", nest_.segments, " ids for ",
                   counted(nest_.entries, "entry", "entries"), ", and bags = ", o.bags),
               "one id for each entry, and the number of bags");
      }
      nest_.bags = o.bags;
    }
  }

  void check_segments_tensor(const TensorSpec& segments) const {
    const bool sound = segments.strides.size() == segments.sizes.size() && segments.rank() == 1 &&
                       segments.sizes[0] >= 0 && segments.dtype.is_integer() &&
                       segments.dtype.is_known() && byte_range(segments);
    if (!sound) {
      refuse(r_, {Reason::kType, "segments"}, "segments are no list of integers",
             cat("segments is ", segments.str()), "one dimension of an integer type");
    }
  }

  void set_types() {
    const EncodedSpec& data = r_.specs.data;
    const bool decodes = data.encoding != Encoding::kPlain;
    const DType type = data.stored.dtype;
    nest_.pool = r_.options.pool;
    nest_.output_type = r_.options.output_type.value_or(decodes ? f32 : type);
    const bool narrow = decodes || is_small_float(type);
    const bool fits = decodes || is_small_float(type)
                          ? nest_.output_type == f32 || nest_.output_type == f16 ||
                                nest_.output_type == bf16 || nest_.output_type == type
                          : nest_.output_type == type;
    if (!fits || (decodes && nest_.output_type == u8)) {
      refuse(r_, {Reason::kType, "output"}, "types differ",
             cat("output is ", nest_.output_type.name(), ", but data is ",
                 decodes ? std::string(to_string(data.encoding)) : type.name()),
             decodes || is_small_float(type) ? "an output of f32, f16 or bf16"
                                             : cat("an output of type ", type.name()));
    }
    nest_.computed = narrow && r_.options.accumulate_f32 ? f32 : nest_.output_type;
    if (const char* why = refusal_of_reduction(
            nest_.pool == Pool::kMean ? Reduction::kMean : reduction_of(nest_.pool),
            nest_.computed)) {
      refuse(r_, {Reason::kReduction}, "pool does not fit the type",
             cat("pool = ", to_string(nest_.pool), " on ", nest_.computed.name(), ": ", why),
             "another type, or another pool");
    }
    if (nest_.pool == Pool::kSqrtN && !is_float(nest_.computed)) {
      refuse(r_, {Reason::kReduction}, "pool does not fit the type",
             cat("pool = sqrtn on ", nest_.computed.name(), ": a square root is no such number"),
             "a float type, or pool = sum");
    }
  }

  void set_weights() {
    const auto& weights = r_.specs.weights;
    nest_.weighted = weights.has_value();
    if (!weights) {
      return;
    }
    const Dims entries = r_.specs.indices ? r_.specs.indices->sizes : Dims{nest_.entries};
    if (weights->strides.size() != weights->sizes.size() || weights->sizes != entries ||
        !byte_range(*weights)) {
      refuse(r_, {Reason::kShape, "weights", -1, weights->sizes, entries},
             "weights have the wrong shape",
             cat("weights is ", bracketed(weights->sizes), ", but there is one for each of ",
                 bracketed(entries), " entries"),
             cat("weights of shape ", bracketed(entries)));
    }
    const bool fits = weights->dtype == f32 || weights->dtype == f16 || weights->dtype == bf16 ||
                      (weights->dtype == f64 && nest_.computed == f64);
    if (!fits || !is_float(nest_.computed)) {
      refuse(r_, {Reason::kType, "weights"}, "weights do not fit the type",
             cat("weights is ", weights->dtype.name(), ", and products are computed in ",
                 nest_.computed.name()),
             "weights of f32, f16 or bf16 (f64 with data of f64) and data of floats");
    }
    nest_.weight_type = weights->dtype;
    nest_.weights = entry_places(*weights);
  }

  void set_output() {
    Dims sizes = r_.specs.data.sizes;
    sizes[0] = nest_.bags;
    output_ = r_.output ? *r_.output : TensorSpec(nest_.output_type, sizes);
    if (r_.output && (output_.dtype != nest_.output_type || output_.sizes != sizes ||
                      output_.strides.size() != sizes.size())) {
      refuse(r_, {Reason::kShape, "output", -1, output_.sizes, sizes}, "output does not fit",
             cat("output is ", output_.str(), ", but this bag writes ", nest_.output_type.name(),
                 bracketed(sizes)),
             cat("an output of ", nest_.output_type.name(), bracketed(sizes)));
    }
    constexpr int64_t kBagBytes = 64;  // more than offsets and what a device notes of a bag take
    const auto count = checked_mul(nest_.bags, nest_.elements);
    if (nest_.bags > INT64_MAX / kBagBytes || !count ||
        !checked_mul(*count, nest_.output_type.bytes()) || !byte_range(output_)) {
      refuse(r_, {Reason::kTooLarge, "output"}, "tensor too large",
             "the sizes or strides of output reach further than 2^63 - 1 bytes",
             "check how the shape was computed");
    }
    const auto stride = run_stride(output_, 1);
    if (!stride || !elements_disjoint(output_)) {
      refuse(r_, {Reason::kStrides, "output"}, "output strides do not fit",
             cat("output has strides ", bracketed(output_.strides),
                 ", but its rows must be single runs of elements that share no memory"),
             "a contiguous output");
    }
    const int64_t bytes = nest_.output_type.bytes();
    nest_.bag_stride = used_byte_stride(output_, 0);
    nest_.element_stride = nest_.elements > 1 ? *stride * bytes : bytes;
  }

  void set_values() {
    const BagOptions& o = r_.options;
    if (const auto why = encode(o.empty_value, nest_.output_type, nest_.empty)) {
      refuse(r_, {Reason::kFillValue}, "empty_value does not fit", *why,
             cat("a value of type ", nest_.output_type.name()));
    }
    if (nest_.out_of_range == OutOfRange::kFill) {
      if (const auto why = encode(o.rule.fill_value, nest_.computed, nest_.fill)) {
        refuse(r_, {Reason::kFillValue}, "fill_value does not fit", *why,
               cat("a value of type ", nest_.computed.name()));
      }
    }
    if (o.padding_index && !nest_.indexed) {
      refuse(r_, {Reason::kOption}, "padding_index without indices",
             "rows are pooled in order, and no entry names one", "indices, or no padding_index");
    }
    if (o.padding_index) {
      const int64_t at = *o.padding_index;
      nest_.padding = at < 0 && at >= -nest_.extent ? at + nest_.extent : at;
      if (nest_.padding < 0 || nest_.padding >= nest_.extent) {
        refuse(r_, {Reason::kOption}, "padding_index out of range",
               cat("padding_index = ", at, ", but data has ",
                   counted(nest_.extent, "entry", "entries")),
               cat("a row from ", -nest_.extent, " to ", nest_.extent - 1));
      }
    }
  }

  const BagRequest& r_;
  BagNest nest_;
  TensorSpec output_;
};

Dims with_a_row(Dims sizes) {
  sizes[0] = std::max<int64_t>(sizes[0], 1);
  return sizes;
}

// The gather of the bag's rows: it validates the indices tensor, and names a bad index.
Plan gather_of(const BagRequest& r) {
  Request gather;
  gather.op = Op::kGather;
  gather.name = r.name;
  const EncodedSpec& data = r.specs.data;
  gather.data = TensorSpec(data.encoding == Encoding::kPlain ? data.stored.dtype : f32, data.sizes);
  if (data.encoding != Encoding::kPlain) {
    gather.encoded = std::make_shared<const EncodedSpec>(data);
  }
  gather.indices = *r.specs.indices;
  gather.rule = r.options.rule;
  if (gather.rule.out_of_range == OutOfRange::kSkip) {  // which no gather has
    gather.rule.out_of_range = OutOfRange::kClamp;
    if (!gather.data.sizes.empty()) {  // no rows are fine where every entry is left out
      gather.data = TensorSpec(gather.data.dtype, with_a_row(gather.data.sizes));
    }
  }
  if (gather.rule.out_of_range == OutOfRange::kFill) {
    gather.rule.fill_value = {};  // it is checked in the computed type
  }
  return make_plan(gather);
}

}  // namespace

std::string_view to_string(Pool pool) {
  const PoolRow* const row = find_row(kPools, pool);
  return row == nullptr ? "?" : row->name;
}

std::string_view to_string(SegmentForm form) {
  const SegmentFormRow* const row = find_row(kSegmentForms, form);
  return row == nullptr ? "?" : row->name;
}

std::optional<EncodedRows> plain_rows(const TensorSpec& spec) {
  const auto stride = run_stride(spec, 1);
  if (!stride) {
    return std::nullopt;
  }
  int64_t elements = 1;
  for (int d = 1; d < spec.rank(); ++d) {
    elements *= spec.sizes[d];
  }
  const int64_t bytes = spec.dtype.bytes();
  return EncodedRows{.type = spec.dtype,
                     .rows = spec.sizes[0],
                     .elements = elements,
                     .row_stride = used_byte_stride(spec, 0),
                     .element_stride = elements > 1 ? *stride * bytes : bytes};
}

EntryPlaces entry_places(const TensorSpec& spec) {
  if (spec.rank() == 1) {
    return {
        .columns = std::max<int64_t>(spec.sizes[0], 1), .outer = 0, .inner = used_stride(spec, 0)};
  }
  return {.columns = std::max<int64_t>(spec.sizes[1], 1),
          .outer = used_stride(spec, 0),
          .inner = used_stride(spec, 1)};
}

std::string describe(const BagRequest& r) {
  std::string text = cat("data ", r.specs.data.str());
  const auto one = [&](std::string_view name, const std::optional<TensorSpec>& spec) {
    if (spec) {
      text += cat("   ", name, " ", spec->str());
    }
  };
  one("scales", r.specs.data.scales);
  one("zeros", r.specs.data.zeros);
  one("indices", r.specs.indices);
  one(to_string(r.options.segments), r.specs.segments);
  one("weights", r.specs.weights);
  one("output", r.output);
  return cat(text, "   pool ", to_string(r.options.pool));
}

void refuse_as(ErrorCode code, const BagRequest& r, const Cause& cause, std::string what,
               std::string detail, std::string next) {
  throw Error(Refusal{.code = code,
                      .cause = cause,
                      .who = std::string(r.name),
                      .what = std::move(what),
                      .detail = std::move(detail),
                      .given = describe(r),
                      .next = std::move(next)});
}

void refuse(const BagRequest& r, const Cause& cause, std::string what, std::string detail,
            std::string next) {
  refuse_as(ErrorCode::kInvalidArgument, r, cause, std::move(what), std::move(detail),
            std::move(next));
}

BagPlan make_bag_plan(const BagRequest& request) {
  BagPlan plan;
  std::optional<Plan> gather;
  if (const auto problem = problem_of(request.specs.data)) {
    refuse(request, {Reason::kShape, problem->tensor}, problem->what, problem->detail,
           problem->next);
  }
  if (request.specs.indices) {
    gather = gather_of(request);
  }
  Builder builder(request);
  plan.nest_ = std::make_shared<const BagNest>(builder.nest());
  BagRequest complete = request;
  complete.output = builder.output();
  plan.request_ = std::make_shared<const BagRequest>(std::move(complete));
  if (gather && plan.nest_->out_of_range == OutOfRange::kFail) {
    plan.checked_ = std::make_shared<const Plan>(*std::move(gather));
  }
  return plan;
}

const TensorSpec& BagPlan::output() const { return *request_->output; }
int64_t BagPlan::bags() const { return nest_->bags; }

}  // namespace sheaf

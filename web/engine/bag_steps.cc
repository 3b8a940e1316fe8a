// SPDX-License-Identifier: MIT
//
// A bag, one entry at a time. Each step is itself a bag, of the entries up to it, and the library
// runs it: rows are decoded, weighted and added up by the code that runs the whole.
#include <algorithm>
#include <numeric>
#include <span>

#include "answers.h"
#include "pictures/bag_picture.h"
#include "pictures/element_text.h"
#include "plan/resolve.h"
#include "support/text.h"

namespace sheaf::web {
namespace {

// Elements that the steps read in all: a long bag is read again for each of its entries.
constexpr int64_t kMostRead = 20'000'000;

std::vector<std::string> shown_texts(const Literal& values, DType type) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < values.size(); at += static_cast<size_t>(type.bytes())) {
    texts.push_back(pictures::element_text(type, values.data() + at));
  }
  return texts;
}

// The type in which sums are shown as they grow.
DType shown_type(const BagPlan& plan) {
  return plan.nest().computed == f32 ? f32 : plan.output().dtype;
}

// Bags of other entries of the same table, under the same rule.
class SmallBags {
 public:
  explicit SmallBags(const BagCall& call) : call_(call), nest_(call.plan.nest()) {}

  // The pool of the entries, before it is divided by their number.
  std::vector<std::string> joined(std::span<const int64_t> entries, bool weighted) const {
    Literal indices, weights;
    for (const int64_t p : entries) {
      append_index(indices, p);
      if (weighted) {
        append(weights, call_.weights, nest_.weights.at(p), nest_.weight_type);
      }
    }
    const int64_t count = std::ssize(entries);
    const std::vector<int64_t> begin = {0};
    return run(indices, {count}, weighted ? &weights : nullptr, begin);
  }

  // All rows of data, as they are decoded.
  std::vector<std::string> rows() const {
    BagRequest request = plain_request(i64);
    request.options.rule = {};
    std::vector<int64_t> all(static_cast<size_t>(nest_.extent));
    std::iota(all.begin(), all.end(), 0);
    request.specs.indices = TensorSpec(i64, {nest_.extent});
    request.specs.segments = TensorSpec(i64, {nest_.extent});
    return run(request, all.data(), all.data(), nullptr);
  }

 private:
  BagRequest plain_request(DType index_type) const {
    BagRequest request = call_.plan.request();
    request.output.reset();
    request.specs.weights.reset();
    BagOptions& options = request.options;
    options.segments = SegmentForm::kOffsets;
    options.last_offset = false;
    options.bags = -1;
    options.output_type = shown_type(call_.plan);
    options.pool =
        nest_.pool == Pool::kMean || nest_.pool == Pool::kSqrtN ? Pool::kSum : nest_.pool;
    if (!nest_.indexed || index_type != nest_.index_type) {
      options.padding_index.reset();
    }
    return request;
  }

  static void append(Literal& to, const Literal& from, int64_t element, DType type) {
    const auto* const first = from.data() + element * type.bytes();
    to.insert(to.end(), first, first + type.bytes());
  }

  // An entry without an index is the row of its number.
  void append_index(Literal& indices, int64_t p) const {
    if (nest_.indexed) {
      append(indices, call_.indices, nest_.indices.at(p), nest_.index_type);
    } else {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&p);
      indices.insert(indices.end(), bytes, bytes + sizeof p);
    }
  }

  std::vector<std::string> run(const Literal& indices, const Dims& sizes, const Literal* weights,
                               const std::vector<int64_t>& begin) const {
    const DType type = nest_.indexed ? nest_.index_type : i64;
    BagRequest request = plain_request(type);
    request.specs.indices = TensorSpec(type, sizes);
    request.specs.segments = TensorSpec(i64, {int64_t{std::ssize(begin)}});
    if (weights != nullptr) {
      request.specs.weights = TensorSpec(nest_.weight_type, sizes);
    }
    return run(request, indices.data(), begin.data(), weights);
  }

  std::vector<std::string> run(const BagRequest& request, const void* indices,
                               const int64_t* segments, const Literal* weights) const {
    const BagPlan plan = make_bag_plan(request);
    Literal output(
        static_cast<size_t>(element_count(plan.output().sizes) * plan.output().dtype.bytes()));
    BagMemory memory = call_.memory();
    memory.indices = indices;
    memory.segments = segments;
    memory.weights = weights == nullptr ? nullptr : weights->data();
    memory.output = output.data();
    plan.run(memory);
    return shown_texts(output, plan.output().dtype);
  }

  const BagCall& call_;
  const BagNest& nest_;
};

// "0a 0b 0c": the bytes of a row as they are stored.
std::string stored_text(const BagCall& call, int64_t row) {
  const EncodedRows& rows = call.plan.nest().rows;
  constexpr int64_t kMostBytes = 24;
  const int64_t bytes = call.plan.request().specs.data.stored.sizes.back();
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int64_t b = 0; b < std::min(bytes, kMostBytes); ++b) {
    const auto byte =
        static_cast<size_t>(call.data[static_cast<size_t>(row * rows.row_stride + b)]);
    text += cat(b == 0 ? "" : " ", kDigits[byte >> 4], kDigits[byte & 15]);
  }
  return bytes > kMostBytes ? cat(text, " … ", bytes - kMostBytes, " bytes more") : text;
}

Json entry_json(const BagCall& call, const SmallBags& small, const pictures::BagEntry& entry,
                std::span<const int64_t> so_far) {
  const BagNest& nest = call.plan.nest();
  const bool stored = entry.row != kOutside;
  Json json = {{"entry", entry.number},
               {"index", entry.index},
               {"row", stored ? Json(entry.row) : Json()},
               {"data", stored ? Json(entry.row * nest.elements) : Json()},
               {"left_out", entry.left_out},
               {"after", small.joined(so_far, nest.weighted)}};
  if (entry.left_out) {
    return json;
  }
  const int64_t alone[] = {entry.number};
  json["values"] = small.joined(alone, false);
  if (nest.weighted) {
    const auto at = nest.weights.at(entry.number) * nest.weight_type.bytes();
    json["weight"] = pictures::element_text(nest.weight_type, call.weights.data() + at);
    json["product"] = small.joined(alone, true);
  }
  if (stored && nest.rows.encoding != Encoding::kPlain && nest.rows_per_entry == 1) {
    json["stored"] = stored_text(call, entry.row);
  }
  return json;
}

int64_t elements_read(const BagNest& nest, const pictures::Bags& bags) {
  int64_t read = 0;
  for (const auto& bag : bags) {
    read += std::ssize(bag) * std::ssize(bag) * nest.elements;
  }
  return read;
}

}  // namespace

std::vector<std::string> decoded_texts(const BagCall& call) { return SmallBags(call).rows(); }

Json bag_steps_json(const BagCall& call, const Literal& output) {
  const BagNest& nest = call.plan.nest();
  const pictures::Bags bags = pictures::entries_by_bag({call.plan, call.memory()});
  const int64_t points = nest.entries + nest.bags;
  Json list = Json::array();
  if (points > kMostSteps || elements_read(nest, bags) > kMostRead || !nest.has_output()) {
    return {{"points", nest.has_output() ? points : 0}, {"list", std::move(list)}};
  }
  const SmallBags small(call);
  const std::vector<std::string> results = shown_texts(output, call.plan.output().dtype);
  for (int64_t s = 0; s < nest.bags; ++s) {
    std::vector<int64_t> so_far;
    int64_t pooled = 0;
    const auto add = [&](Json step) {
      step["bag"] = s;
      step["grid"] = s * nest.elements;
      step["count"] = nest.elements;
      step["pooled"] = pooled;
      list.push_back(std::move(step));
    };
    for (const pictures::BagEntry& entry : bags[static_cast<size_t>(s)]) {
      so_far.push_back(entry.number);
      pooled += entry.left_out ? 0 : 1;
      add(entry_json(call, small, entry, so_far));
    }
    const auto done = std::span(results).subspan(static_cast<size_t>(s * nest.elements),
                                                 static_cast<size_t>(nest.elements));
    add({{"entry", nullptr}, {"after", std::vector<std::string>(done.begin(), done.end())}});
  }
  return {{"points", points}, {"list", std::move(list)}};
}

}  // namespace sheaf::web

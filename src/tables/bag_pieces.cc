// SPDX-License-Identifier: MIT
#include "tables/bag_pieces.h"

#include <algorithm>
#include <cstring>

#include "execution/bag_entries.h"
#include "execution/run_bag.h"
#include "plan/byte_ranges.h"
#include "plan/index_error.h"
#include "support/text.h"

namespace sheaf::tables {

BagInputs::BagInputs(const BagPlan& plan, const BagMemory& memory, const Backend* device,
                     void* stream)
    : plan_(plan) {
  const BagSpecs& specs = plan.request().specs;
  if (device != nullptr) {
    device->device->wait(nullptr, stream);
  }
  const auto copy = [&](const void* at, const std::optional<TensorSpec>& spec) {
    return spec ? copied(at, *spec, device) : nullptr;
  };
  const std::byte* const segments = copy(memory.segments, specs.segments);
  indices_ = copy(memory.indices, specs.indices);
  weights_ = copy(memory.weights, specs.weights);
  offsets_ = bag_offsets(plan, segments, true);
  if (plan.checked_gather() != nullptr) {
    throw_first_bad_index(*plan.checked_gather(), indices_);
  }
}

// All bytes between the first and the last element.
const std::byte* BagInputs::copied(const void* memory, const TensorSpec& spec,
                                   const Backend* device) {
  const ByteRange range = byte_range(spec).value_or(ByteRange{});
  const auto bytes = static_cast<size_t>(range.hi - range.lo);
  if (bytes == 0) {
    return nullptr;
  }
  copies_.push_back(std::make_unique<std::byte[]>(bytes));
  std::byte* const to = copies_.back().get();
  const std::byte* const from = static_cast<const std::byte*>(memory) + range.lo;
  device != nullptr ? device->device->download(to, from, bytes)
                    : static_cast<void>(std::memcpy(to, from, bytes));
  return to - range.lo;
}

int64_t BagInputs::row(int64_t entry) const {
  const BagNest& nest = plan_.nest();
  const int64_t row = with_index_type(nest.index_type, [&](auto zero) {
    return EntryReader<decltype(zero)>(nest, indices_).row(entry);
  });
  const bool inside = row >= 0 && row < nest.extent;
  // Under kTrust, whose promise may be broken, what is outside is left out.
  return inside || (row == kOutside && nest.out_of_range == OutOfRange::kFill) ? row : kLeftOut;
}

const std::byte* BagInputs::weight(int64_t entry) const {
  const BagNest& nest = plan_.nest();
  return weights_ + nest.weights.at(entry) * nest.weight_type.bytes();
}

BagPieces::BagPieces(const BagPlan& plan, const BagInputs& inputs, int64_t most_rows)
    : plan_(plan), inputs_(inputs), most_rows_(most_rows) {}

void BagPieces::add_bag(int64_t bag, BagPiece& piece) const {
  const BagNest& nest = plan_.nest();
  const EntryRange entries = entries_of(nest, inputs_.offsets(), bag);
  for (int64_t p = entries.begin; p < entries.end; ++p) {
    const int64_t row = inputs_.row(p);
    if (row == kLeftOut) {
      continue;
    }
    piece.numbers.push_back(row == kOutside ? -1 : piece.rows.number_of(row));
    if (nest.weighted) {
      const std::byte* const weight = inputs_.weight(p);
      piece.weights.insert(piece.weights.end(), weight, weight + nest.weight_type.bytes());
    }
  }
  piece.offsets.push_back(std::ssize(piece.numbers));
  ++piece.bags;
}

bool BagPieces::next(BagPiece& piece) {
  const BagNest& nest = plan_.nest();
  if (bag_ == nest.bags) {
    return false;
  }
  piece.first_bag = bag_;
  piece.bags = 0;
  piece.numbers.clear();
  piece.weights.clear();
  piece.offsets.assign(1, 0);
  int64_t entries = 0;  // that the bags of the piece can have at most
  int64_t last = bag_;
  do {
    const EntryRange range = entries_of(nest, inputs_.offsets(), last);
    entries += range.end - range.begin;
    ++last;
  } while (last < nest.bags && entries < most_rows_ && last - bag_ < most_rows_);
  piece.rows.clear(std::max<int64_t>(entries, 1));
  for (; bag_ < last; ++bag_) {
    add_bag(bag_, piece);
  }
  return true;
}

int64_t entry_bytes(const BagPlan& plan) {
  const TensorSpec& stored = plan.request().specs.data.stored;
  if (stored != TensorSpec(stored.dtype, stored.sizes)) {
    refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kStrides, "data"},
              "gaps between rows", "rows of a table that are fetched for a bag lie side by side",
              "a table in row-major order");
  }
  return element_count(stored.sizes) / std::max<int64_t>(stored.sizes[0], 1) * stored.dtype.bytes();
}

BagPlan plan_of_bags(const BagPlan& plan, const BagPiece& piece, int64_t rows) {
  const BagRequest& whole = plan.request();
  BagRequest request;
  request.name = whole.name;
  request.options = whole.options;
  const auto cut = [](TensorSpec spec, int64_t count) {
    spec.sizes[0] = count;
    return spec;
  };
  request.specs.data = whole.specs.data;
  request.specs.data.sizes[0] = rows;
  request.specs.data.stored = cut(whole.specs.data.stored, rows);
  const auto entries = std::ssize(piece.numbers);
  request.specs.indices = TensorSpec(i64, {entries});
  request.specs.segments = TensorSpec(i64, {piece.bags + 1});
  if (whole.specs.weights) {
    request.specs.weights = TensorSpec(whole.specs.weights->dtype, {entries});
  }
  request.output = cut(plan.output(), piece.bags);
  BagOptions& options = request.options;
  options.segments = SegmentForm::kOffsets;
  options.last_offset = true;
  options.bags = -1;
  options.padding_index = std::nullopt;
  options.output_type = plan.output().dtype;
  options.rule.negative = Negative::kOutOfRange;
  if (options.rule.out_of_range != OutOfRange::kFill) {
    options.rule.out_of_range = OutOfRange::kClamp;  // all are in range: nothing is to be checked
  }
  return make_bag_plan(request);
}

}  // namespace sheaf::tables

// SPDX-License-Identifier: MIT
//
// Bags made at random.
#include <algorithm>

#include "helpers/bag_problem.h"
#include "helpers/decode_oracle.h"
#include "helpers/scatter_oracle.h"
#include "plan/byte_ranges.h"

using namespace sheaf;

namespace {

bool narrow_float(DType type) {
  return type == f16 || type == bf16 || type == f8e4m3 || type == f8e5m2;
}
bool any_float(DType type) { return narrow_float(type) || type == f32 || type == f64; }

void add_indices(Rng& rng, BagProblem& problem, bool matrix, int64_t bags, int64_t entries) {
  const int64_t extent = problem.specs.data.sizes[0];
  const DType type = rng.pick<DType>({i64, i32, i64, i8, i16, u8, u16, u32, u64});
  const Dims sizes = matrix ? Dims{bags, entries} : Dims{entries};
  problem.specs.indices = random_bag_strides(rng, type, sizes);
  if (matrix && rng.one_in(4)) {  // every bag has the same entries
    problem.specs.indices->strides[0] = 0;
  }
  problem.indices = BagBytes(*problem.specs.indices);
  const OutOfRange rule = problem.options.rule.out_of_range;
  const bool goes_out = rule != OutOfRange::kTrust && rule != OutOfRange::kFail;
  const bool from_end =
      type.is_signed_integer() && problem.options.rule.negative == Negative::kFromEnd;
  for (int64_t i = 0; i < element_count(sizes); ++i) {
    int64_t value = rng.from(from_end ? -extent : 0, extent - 1);
    if (goes_out && rng.one_in(4)) {
      value = rng.from(type.is_signed_integer() ? -3 * extent : extent, 4 * extent);
    } else if (goes_out && rng.one_in(40)) {
      value = rng.one_in(2) ? INT64_MAX : INT64_MIN;  // in fewer bits -1 and 0
    }
    problem.indices.set(i, value);
  }
}

void add_segments(Rng& rng, BagProblem& problem, int64_t bags, int64_t entries) {
  std::vector<int64_t> lengths(static_cast<size_t>(bags), 0);
  int64_t left = entries;
  for (int64_t& length : lengths) {
    length = rng.one_in(4) ? 0 : rng.from(0, left);
    left -= length;
  }
  lengths.back() += left;
  BagOptions& options = problem.options;
  options.segments = rng.pick<SegmentForm>(
      {SegmentForm::kOffsets, SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds});
  options.last_offset = options.segments == SegmentForm::kOffsets && rng.one_in(2);
  if (options.last_offset) {  // entries behind the last bag are in none
    lengths.back() -= rng.from(0, lengths.back());
  }
  if (options.segments == SegmentForm::kIds) {
    options.bags = bags + rng.from(0, 2);
  }
  const auto values = segments_of(lengths, options.segments, options.last_offset);
  problem.specs.segments = random_bag_strides(rng, rng.pick<DType>({i64, i32, u16, u64, i16, u32}),
                                              {static_cast<int64_t>(values.size())});
  problem.segments = BagBytes(*problem.specs.segments);
  problem.segments.set_all(values);
}

Pool random_pool(Rng& rng, DType computed) {
  for (;;) {
    const Pool pool =
        rng.pick<Pool>({Pool::kSum, Pool::kMean, Pool::kMax, Pool::kMin, Pool::kMul, Pool::kSqrtN});
    const Reduction reduction = pool == Pool::kMean  ? Reduction::kMean
                                : pool == Pool::kMax ? Reduction::kMax
                                : pool == Pool::kMin ? Reduction::kMin
                                                     : Reduction::kAdd;
    if (oracle::joins(computed, reduction) && (pool != Pool::kSqrtN || any_float(computed))) {
      return pool;
    }
  }
}

// Everything but the table.
void add_the_rest(Rng& rng, BagProblem& problem, DType computed) {
  const int64_t extent = problem.specs.data.sizes[0];
  BagOptions& o = problem.options;
  o.pool = random_pool(rng, computed);
  o.rule.negative = rng.pick<Negative>({Negative::kFromEnd, Negative::kOutOfRange});
  o.rule.out_of_range =
      rng.pick<OutOfRange>({OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                            OutOfRange::kWrap, OutOfRange::kTrust, OutOfRange::kSkip});
  const int64_t most = computed == boolean || problem.specs.data.stored.dtype == boolean ? 1 : 9;
  o.rule.fill_value = rng.from(0, most);
  o.empty_value = rng.from(0, std::min<int64_t>(most, 3));
  if (rng.one_in(3)) {
    o.padding_index = rng.from(-extent, extent - 1);
  }
  const int64_t bags = rng.from(1, 7);
  const int64_t entries = rng.from(0, rng.one_in(15) ? 1300 : 30);
  const bool matrix = rng.one_in(4);
  const bool indexed = matrix || !rng.one_in(6);
  if (indexed) {
    add_indices(rng, problem, matrix, bags, matrix ? entries % 40 : entries);
  } else {
    o.padding_index = {};
  }
  if (!matrix) {
    add_segments(rng, problem, bags, indexed ? entries : extent);
  }
  if (any_float(computed) && rng.one_in(2)) {
    const Dims sizes = indexed ? problem.specs.indices->sizes : Dims{extent};
    const std::vector<DType> types =
        computed == f64 ? std::vector{f64, f32} : std::vector{f32, f16, bf16};
    problem.specs.weights = random_bag_strides(rng, rng.pick(types), sizes);
    problem.weights = BagBytes(*problem.specs.weights);
    problem.weights.fill_numbers(rng);
  }
  if (rng.one_in(3)) {
    const TensorSpec dense = problem.plan().output();
    problem.output = random_bag_strides(rng, dense.dtype, dense.sizes);
  }
}

DType random_output(Rng& rng, BagProblem& problem, DType type) {
  BagOptions& o = problem.options;
  o.accumulate_f32 = !rng.one_in(3);
  if (rng.one_in(2)) {
    o.output_type = rng.pick<DType>({f32, f16, bf16});
  }
  return o.accumulate_f32 ? f32 : o.output_type.value_or(type);
}

// Scales, and for every second table zeros, beside codes.
void add_scales(Rng& rng, BagProblem& problem) {
  EncodedSpec& data = problem.specs.data;
  const auto rank = static_cast<int64_t>(data.sizes.size());
  data.axis = rng.from(-rank, rank - 1);
  const auto axis = static_cast<int>(data.axis < 0 ? data.axis + rank : data.axis);
  data.block = rng.pick<int64_t>({0, 1, 3, 16, 32});
  Dims blocks = data.sizes;
  blocks[axis] = data.block == 0 ? 1 : (data.sizes[axis] + data.block - 1) / data.block;
  if (rng.one_in(5)) {
    blocks = rng.one_in(3) ? Dims{} : Dims{1};
  }
  data.scales = TensorSpec(rng.pick<DType>({f32, f16, bf16, f8e4m3, u8}), blocks);
  problem.scales = BagBytes(*data.scales);
  data.scales->dtype == u8 ? problem.scales.fill_bytes(rng) : problem.scales.fill_numbers(rng);
  data.usual_zero = rng.one_in(3) ? 8 : 0;
  if (rng.one_in(2)) {
    const DType type = rng.pick<DType>({u8, i8, f32, f16, bf16});
    const int bits = oracle::bits_of_code(data.encoding);
    if (bits < 8 && !blocks.empty() && (type == u8 || type == i8)) {
      blocks.back() = (blocks.back() * bits + 7) / 8;
    }
    data.zeros = TensorSpec(type, blocks);
    problem.zeros = BagBytes(*data.zeros);
    type == u8 || type == i8 ? problem.zeros.fill_bytes(rng) : problem.zeros.fill_numbers(rng);
  }
}

}  // namespace

TensorSpec random_bag_strides(Rng& rng, DType type, const Dims& sizes) {
  TensorSpec spec(type, sizes);
  int64_t step = rng.one_in(4) ? 2 : 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    spec.strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
    step += d == 1 && rng.one_in(3) ? rng.from(1, 5) : 0;
  }
  if (rng.one_in(5)) {
    spec.strides[0] = -spec.strides[0];
  }
  return spec;
}

BagProblem random_bag(Rng& rng) {
  BagProblem problem;
  const DType type =
      rng.pick<DType>({f32, f32, f32, f32, f16, f16, bf16,   bf16,   f64,     i32, i64,
                       i8,  u8,  i16, u16, u32, u64, f8e4m3, f8e5m2, boolean, c64, c128});
  Dims sizes{rng.from(1, 12), rng.pick<int64_t>({1, 2, 3, 7, 8, 16, 31, 64, 70, 130})};
  if (rng.one_in(5)) {
    sizes.push_back(rng.from(1, 3));
  } else if (rng.one_in(20)) {
    sizes.pop_back();
  }
  problem.specs.data = EncodedSpec(random_bag_strides(rng, type, sizes));
  problem.stored = BagBytes(problem.specs.data.stored);
  problem.stored.fill_numbers(rng);
  const DType computed = narrow_float(type) ? random_output(rng, problem, type) : type;
  add_the_rest(rng, problem, computed);
  return problem;
}

BagProblem random_encoded_bag(Rng& rng, Encoding encoding) {
  BagProblem problem;
  const int64_t block = std::max<int64_t>(oracle::block_elements(encoding), 1);
  Dims sizes{rng.from(1, 9), block * rng.from(1, block > 1 ? 2 : 70)};
  if (rng.one_in(4)) {
    sizes = {sizes[0], rng.from(1, 3), sizes[1]};
  }
  EncodedSpec& data = problem.specs.data;
  data.encoding = encoding;
  data.sizes = sizes;
  Dims stored = sizes;
  stored.back() = encoded_row_bytes(encoding, sizes.back());
  data.stored = TensorSpec(u8, stored);
  if (rng.one_in(3)) {  // rows with gaps, or in the other direction
    int64_t step = (stored.back() + rng.from(0, 9)) * (rng.one_in(2) ? 1 : -1);
    for (int d = stored.size() - 2; d >= 0; --d) {
      data.stored.strides[d] = step;
      step *= stored[d];
    }
  }
  problem.stored = BagBytes(data.stored);
  problem.stored.fill_bytes(rng);
  if (oracle::has_own_scales(encoding)) {
    add_scales(rng, problem);
  }
  const DType computed = random_output(rng, problem, f32);
  add_the_rest(rng, problem, computed);
  return problem;
}

// SPDX-License-Identifier: MIT
#include "helpers/random_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <map>

#include "helpers/problem_plan.h"
#include "helpers/small_float.h"

using oracle::Problem;
using oracle::Shape;
using oracle::Wide;
using sheaf::Negative;
using sheaf::OutOfRange;

namespace {

sheaf::DType random_type(Rng& rng) {
  using namespace sheaf;
  static const std::vector<DType> kNumbers = {boolean, i8,  i16,    i32,    i64, u8,   u16,
                                              u32,     u64, f8e4m3, f8e5m2, f16, bf16, f32,
                                              f64,     c64, c128,   i4,     u2};
  return rng.one_in(3) ? opaque(rng.from(1, 64)) : rng.pick(kNumbers);
}

// One index into an axis with `places` places, inside or outside of it.
Wide random_index(Rng& rng, Wide places, const RandomProblem& p, bool inside) {
  const Wide low = std::max(smallest(p.index_type),
                            p.problem.negative == Negative::kFromEnd ? -places : Wide{0});
  const Wide high = std::min(largest(p.index_type), places - 1);
  if (inside) {
    return places == 0 ? 0 : rng.from(static_cast<int64_t>(low), static_cast<int64_t>(high));
  }
  const Wide candidates[] = {places,
                             places + 1,
                             -places - 1,
                             -1,
                             smallest(p.index_type),
                             largest(p.index_type),
                             Wide{rng.from(-1000, 1000)}};
  const Wide value = candidates[rng.from(0, 6)];
  return std::clamp(value, smallest(p.index_type), largest(p.index_type));
}

// The axis whose places limit the index that stands at `point`; any axis will do where the call is
// unsound.
size_t limiting_axis(const Problem& p, const oracle::Point& point) {
  switch (p.op) {
    case oracle::Op::kGatherNd:
      return static_cast<size_t>(oracle::from_front(p.batch_dims, p.indices.size()) + point.back());
    case oracle::Op::kXlaGather: {
      const auto dim = static_cast<size_t>(p.index_vector_dim);
      return static_cast<size_t>(
          p.start_index_map[dim < point.size() ? static_cast<size_t>(point[dim]) : 0]);
    }
    default: return static_cast<size_t>(oracle::from_front(p.axis, p.data.size()));
  }
}

void add_values(RandomProblem& r, Rng& rng) {
  Problem& p = r.problem;
  Shape shape;
  const bool sound = oracle::output_shape(p, shape);
  const bool all_inside = p.out_of_range == OutOfRange::kTrust || rng.one_in(3);
  const int64_t one_outside_in = rng.pick<int64_t>({2, 20, 200});
  for (int64_t i = 0; i < oracle::element_count(p.indices); ++i) {
    const Wide places =
        sound ? oracle::places(p, limiting_axis(p, oracle::point_of(i, p.indices))) : Wide{1};
    p.values.push_back(random_index(rng, places, r, all_inside || !rng.one_in(one_outside_in)));
  }
}

// Indices that lie in the same spot are one index: the last that is written there.
void share_values(RandomProblem& r) {
  Problem& p = r.problem;
  std::map<int64_t, Wide> memory;
  const auto spot = [&](size_t i) {
    const oracle::Point point = oracle::point_of(static_cast<int64_t>(i), p.indices);
    return offset_of(point, r.indices_strides);
  };
  for (size_t i = 0; i < p.values.size(); ++i) {
    memory[spot(i)] = p.values[i];
  }
  for (size_t i = 0; i < p.values.size(); ++i) {
    p.values[i] = memory[spot(i)];
  }
  Shape shape;
  if (p.out_of_range == OutOfRange::kTrust && oracle::output_shape(p, shape) &&
      oracle::answer(p).bad_count > 0) {
    p.out_of_range = OutOfRange::kFail;  // a promise that sharing has broken
  }
}

// Strides at random: dimensions in any order, with gaps, backwards; on inputs also standing still.
sheaf::Dims random_strides(Rng& rng, const Shape& sizes, bool input) {
  const auto count = static_cast<int64_t>(sizes.size());
  sheaf::Dims strides(static_cast<int>(count), 1);
  Shape order;
  for (int64_t d = 0; d < count; ++d) {
    order.insert(order.begin(), d);  // innermost first
  }
  const bool plain = rng.one_in(3);
  if (!plain && rng.one_in(2)) {
    rng.shuffle(order);
  }
  int64_t span = 1;
  for (const int64_t d : order) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    int64_t& stride = strides[static_cast<int>(d)];
    stride = plain || !rng.one_in(4) ? span : span * rng.from(1, 2) + rng.from(0, 3);
    span = stride * std::max<int64_t>(1, size);
    if (!plain && rng.one_in(4)) {
      stride = -stride;
    }
    if (!plain && input && rng.one_in(6)) {
      stride = 0;
    }
    // Never used, and so never looked at.
    if (size == 1 && rng.one_in(4)) {
      stride = rng.pick<int64_t>({0, -7, INT64_MAX, INT64_MIN});
    }
  }
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end() && rng.one_in(2)) {
    strides = sheaf::Dims(static_cast<int>(count), rng.pick<int64_t>({0, INT64_MAX, INT64_MIN}));
  }
  return strides;
}

}  // namespace

int64_t offset_of(const oracle::Point& point, const sheaf::Dims& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < point.size(); ++d) {
    offset += point[d] == 0 ? 0 : point[d] * strides[static_cast<int>(d)];
  }
  return offset;
}

RandomProblem random_problem(uint64_t seed, int64_t most_elements) {
  Rng rng(seed);
  RandomProblem r;
  r.problem = random_call(rng, most_elements);
  if (rng.one_in(8)) {
    change_one_thing(r.problem, rng);
  }
  r.problem.negative = rng.one_in(2) ? Negative::kFromEnd : Negative::kOutOfRange;
  r.problem.out_of_range =
      rng.pick<OutOfRange>({OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                            OutOfRange::kWrap, OutOfRange::kTrust});
  r.type = random_type(rng);
  r.index_type = rng.pick(kIndexTypes);
  add_values(r, rng);
  Shape output;
  oracle::output_shape(r.problem, output);
  r.data_strides = random_strides(rng, r.problem.data, true);
  r.indices_strides = random_strides(rng, r.problem.indices, true);
  share_values(r);
  r.output_strides = random_strides(rng, output, false);
  return r;
}

namespace {

// A scatter has no slice sizes: dimensions that its updates lack are windows of one entry.
void set_slices_of_updates(Problem& p) {
  for (const Shape* dims : {&p.collapsed_slice_dims, &p.operand_batching_dims}) {
    for (const int64_t d : *dims) {
      if (d >= 0 && d < std::ssize(p.slice_sizes)) {
        p.slice_sizes[static_cast<size_t>(d)] = 1;
      }
    }
  }
}

}  // namespace

RandomProblem random_scatter(uint64_t seed, int64_t most_elements) {
  Rng rng(seed);
  RandomProblem r;
  Problem& p = r.problem;
  p = random_call(rng, most_elements, true);
  if (rng.one_in(8)) {
    change_one_thing(p, rng);
  }
  set_slices_of_updates(p);
  p.negative = rng.one_in(2) ? Negative::kFromEnd : Negative::kOutOfRange;
  p.out_of_range = rng.pick<OutOfRange>({OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip,
                                         OutOfRange::kWrap, OutOfRange::kTrust});
  p.skip_whole_window = rng.one_in(2);
  r.type = random_type(rng);
  r.index_type = rng.pick(kIndexTypes);
  do {  // one in thirty stays as it comes, and may have to be refused
    r.joining = {rng.pick(oracle::kReductions), rng.one_in(2), rng.one_in(4)};
  } while (!oracle::joins(r.type, r.joining.reduction) && !rng.one_in(30));
  add_values(r, rng);
  Shape updates;
  oracle::output_shape(p, updates);
  r.output_strides = random_strides(rng, p.data, false);
  r.in_place = rng.one_in(3);
  r.data_strides = r.in_place ? r.output_strides : random_strides(rng, p.data, true);
  r.indices_strides = random_strides(rng, p.indices, true);
  r.updates_strides = random_strides(rng, updates, true);
  share_values(r);
  return r;
}

void write_random_element(Rng& rng, sheaf::DType type, bool tame, std::byte* element) {
  const double number = static_cast<double>(rng.from(-900, 900)) / 7;
  const auto write = [&](auto value) { std::memcpy(element, &value, sizeof value); };
  const bool is_float = type.kind() >= sheaf::Kind::kFloat8E4M3 && !type.is_sub_byte();
  if (!tame || !is_float || type.kind() == sheaf::Kind::kOpaque) {
    for (int64_t byte = 0; byte < type.bytes(); ++byte) {
      element[byte] = static_cast<std::byte>(rng.next());
    }
  } else if (type.bytes() <= 2) {
    const uint32_t bits = oracle::SmallFloat::of(type).nearest(number);
    type.bytes() == 1 ? write(static_cast<uint8_t>(bits)) : write(static_cast<uint16_t>(bits));
  } else if (type == sheaf::f32) {
    write(static_cast<float>(number));
  } else if (type == sheaf::f64) {
    write(number);
  } else if (type == sheaf::c64) {
    write(std::complex<float>(static_cast<float>(number), static_cast<float>(number / 3)));
  } else {
    write(std::complex<double>(number, number / 3));
  }
}

std::string RandomProblem::str() const {
  const auto text = [](const sheaf::Dims& dims) { return testing::PrintToString(as_vector(dims)); };
  return problem.str() + "\n  data type " + type.name() + " strides " + text(data_strides) +
         "   index type " + index_type.name() + " strides " + text(indices_strides) +
         "   output strides " + text(output_strides) +
         (problem.scatters ? "   updates strides " + text(updates_strides) + "   " + joining.str() +
                                 (in_place ? "   in place" : "")
                           : "");
}

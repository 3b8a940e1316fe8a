// SPDX-License-Identifier: MIT
//
// Requests are built in one place, and a cache of plans may compare them: a request that differs in
// any field, of a request or of what is in it, is another one.
#include "plan/request.h"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

namespace sheaf {
namespace {

// A value that each field can be changed to, so that a field added to Request without a line here
// does not compile: a structured binding names all of them.
std::vector<Request> changed_in_one_field(const Request& start) {
  std::vector<Request> all;
  const auto change = [&](auto member, auto value) {
    Request r = start;
    r.*member = value;
    all.push_back(r);
  };
  [[maybe_unused]] const auto& [op, name, data, indices, output, encoded, updates, output_given,
                                updates_given, grid_is_padded, axis, batch_dims, broadcast, xla,
                                skip_whole_window, reduction, include_self, onto_zeros, relaxed,
                                accumulate_f32, rule] = start;
  change(&Request::op, Op::kScatterNd);
  change(&Request::name, "take");
  for (const auto tensor :
       {&Request::data, &Request::indices, &Request::output, &Request::updates}) {
    change(tensor, TensorSpec(i16, {7}));
    change(tensor, TensorSpec(i16, {7}, {2}));
  }
  for (const auto flag : {&Request::output_given, &Request::updates_given, &Request::grid_is_padded,
                          &Request::broadcast, &Request::skip_whole_window, &Request::include_self,
                          &Request::onto_zeros, &Request::relaxed, &Request::accumulate_f32}) {
    change(flag, !(start.*flag));
  }
  change(&Request::encoded, std::make_shared<const EncodedSpec>());
  change(&Request::axis, 1);
  change(&Request::batch_dims, 1);
  change(&Request::reduction, Reduction::kMax);
  for (const auto list :
       {&XlaGatherOptions::offset_dims, &XlaGatherOptions::collapsed_slice_dims,
        &XlaGatherOptions::operand_batching_dims, &XlaGatherOptions::start_indices_batching_dims,
        &XlaGatherOptions::start_index_map, &XlaGatherOptions::slice_sizes}) {
    XlaGatherOptions options;
    options.*list = {1};
    change(&Request::xla, options);
  }
  change(&Request::xla, XlaGatherOptions{.index_vector_dim = 1});
  change(&Request::xla, XlaGatherOptions{});
  change(&Request::rule, IndexRule{.negative = Negative::kOutOfRange});
  change(&Request::rule, IndexRule{.out_of_range = OutOfRange::kClamp});
  change(&Request::rule, IndexRule{.fill_value = 1});
  return all;
}

TEST(Requests, DifferInEveryField) {
  std::vector<Request> all = changed_in_one_field(request_from(Op::kGather));
  all.push_back(request_from(Op::kGather));
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(all[i] == all[j], i == j) << i << " and " << j;
    }
  }
}

TEST(Requests, CompareFillValuesByTheirBits) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using Complex = std::complex<double>;
  const std::vector<Scalar> different = {
      0, uint64_t{0}, 0.0, -0.0, kNan, -kNan, Complex{0, 0}, Complex{0, -0.0}, Complex{0, kNan}, 1};
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t j = 0; j < different.size(); ++j) {
      EXPECT_EQ(different[i] == different[j], i == j) << i << " and " << j;
    }
  }
}

// Options at values that no other field has.
constexpr IndexRule kRule = {Negative::kOutOfRange, OutOfRange::kWrap, {}};

template <class Options>
Options scatter_options() {
  Options options;
  options.reduction = Reduction::kMul;
  options.include_self = false;
  options.onto_zeros = true;
  options.relaxed = true;
  options.accumulate_f32 = true;
  options.rule = kRule;
  return options;
}

Request scatter_request(Op op) {
  Request r = request_from(op);
  r.reduction = Reduction::kMul;
  r.include_self = false;
  r.onto_zeros = true;
  r.relaxed = true;
  r.accumulate_f32 = true;
  r.rule = kRule;
  return r;
}

TEST(Requests, TakeEveryOptionOfAGather) {
  Request gather = request_from(Op::kGather);
  gather.axis = 2;
  gather.batch_dims = 1;
  gather.rule = kRule;
  EXPECT_EQ(request_from(GatherOptions{2, 1, kRule}), gather);
  Request elements = request_from(Op::kGatherElements);
  elements.axis = 2;
  elements.broadcast = true;
  elements.rule = kRule;
  EXPECT_EQ(request_from(GatherElementsOptions{2, true, kRule}), elements);
  Request nd = request_from(Op::kGatherNd);
  nd.batch_dims = 3;
  nd.rule = kRule;
  EXPECT_EQ(request_from(GatherNdOptions{3, kRule}), nd);
  const XlaGatherOptions options{{1}, {2}, {3}, {4}, {5}, 6, {7}, kRule};
  Request xla = request_from(Op::kXlaGather);
  xla.xla = options;
  xla.rule = kRule;
  EXPECT_EQ(request_from(options), xla);
}

TEST(Requests, TakeEveryOptionOfAScatter) {
  auto options = scatter_options<ScatterOptions>();
  options.axis = 2;
  options.batch_dims = 1;
  Request scatter = scatter_request(Op::kScatter);
  scatter.axis = 2;
  scatter.batch_dims = 1;
  EXPECT_EQ(request_from(options), scatter);
  auto of_elements = scatter_options<ScatterElementsOptions>();
  of_elements.axis = 2;
  Request elements = scatter_request(Op::kScatterElements);
  elements.axis = 2;
  EXPECT_EQ(request_from(of_elements), elements);
  auto of_nd = scatter_options<ScatterNdOptions>();
  of_nd.batch_dims = 3;
  Request nd = scatter_request(Op::kScatterNd);
  nd.batch_dims = 3;
  EXPECT_EQ(request_from(of_nd), nd);
}

TEST(Requests, OfXlaScatterHaveTheNamesOfTheGather) {
  auto options = scatter_options<XlaScatterOptions>();
  options.update_window_dims = {1};
  options.inserted_window_dims = {2};
  options.input_batching_dims = {3};
  options.scatter_indices_batching_dims = {4};
  options.scatter_dims_to_operand_dims = {5};
  options.index_vector_dim = 6;
  options.skip_whole_window = true;
  Request r = scatter_request(Op::kXlaScatter);
  r.xla = XlaGatherOptions{{1}, {2}, {3}, {4}, {5}, 6, {}};
  r.skip_whole_window = true;
  EXPECT_EQ(request_from(options), r);
}

TEST(Requests, OfAnOperatorHaveItsDefaults) {
  const Request r = request_from(Op::kXlaScatter);
  EXPECT_EQ(r.name, "xla_scatter");
  EXPECT_EQ(r.rule, XlaScatterOptions{}.rule);
  EXPECT_EQ(r.xla, XlaGatherOptions{});
  EXPECT_FALSE(request_from(Op::kScatterNd).xla);
}

}  // namespace
}  // namespace sheaf

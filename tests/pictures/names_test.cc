// SPDX-License-Identifier: MIT
#include "pictures/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "plan/scalar.h"
#include "plan/vocabulary.h"
#include "problem/problem.h"

namespace sheaf::pictures {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> said(const char* text) {
  const Problem problem = parse_problem(text);
  std::vector<std::string> texts;
  for (const Objection& objection :
       objections(*problem.name, make_plan(problem.request).request(), problem.request.axis)) {
    texts.push_back(objection.text);
  }
  return texts;
}

TEST(Names, AreKnownOnce) {
  std::set<std::string_view> seen;
  for (const Name& name : names()) {
    EXPECT_TRUE(seen.insert(name.slug).second) << name.slug;
    EXPECT_EQ(find_name(name.id), &name) << name.id;
    EXPECT_EQ(find_name(name.slug), &name) << name.slug;
    EXPECT_FALSE(name.call.empty()) << name.id;
    EXPECT_NE(find_named(kNegatives, name.negative), nullptr) << name.id;
    EXPECT_NE(find_named(kOutOfRanges, name.out_of_range), nullptr) << name.id;
  }
  EXPECT_GT(seen.size(), 50U);
  EXPECT_EQ(find_name("torch.sort"), nullptr);
}

TEST(Names, AreFoundByTheirShortForms) {
  EXPECT_EQ(find_name("np.take")->id, "numpy.take");
  EXPECT_EQ(find_name("F.embedding")->id, "torch.nn.functional.embedding");
  EXPECT_EQ(find_name("jax.numpy.take")->id, "jnp.take");
  EXPECT_EQ(find_name("torch.scatter_add")->id, "Tensor.scatter_add");
  EXPECT_EQ(find_name("torch.Tensor.index_add")->id, "Tensor.index_add");
  EXPECT_EQ(find_name("tensorflow.gather_nd")->id, "tf.gather_nd");
}

TEST(Names, MayHoldSpacesInAProblemString) {
  const LeadingName clip = leading_name("numpy.take, clip f32[3] i64[1]");
  EXPECT_EQ(clip.name->id, "numpy.take, clip");
  EXPECT_EQ(clip.length, 16U);
  EXPECT_EQ(leading_name("BNNSGather (vector) f32[3]").name->op, "gather");
  EXPECT_EQ(leading_name("data[indices] f32[3] i64[1]").name->slug, "numpy.indexing");
  EXPECT_EQ(leading_name("nothing f32[3]").name, nullptr);
  EXPECT_EQ(leading_name("").name, nullptr);
}

TEST(Names, BringTheirRule) {
  const Problem torch = parse_problem("torch.gather f32[2,3] i64[2,2] dim=1");
  EXPECT_EQ(torch.request.op, Op::kGatherElements);
  EXPECT_EQ(torch.request.axis, 1);
  EXPECT_EQ(torch.request.rule.negative, Negative::kOutOfRange);
  EXPECT_EQ(call_text(*torch.name, torch.request), "torch.gather(data, dim=1, index=indices)");
  EXPECT_TRUE(parse_problem("np.take_along_axis f32[2,3] i64[2,1] axis=1").request.broadcast);
  const Request at = parse_problem("data.at[indices].add f32[3] i64[1] f32[1]").request;
  EXPECT_EQ(at.reduction, Reduction::kAdd);
  EXPECT_EQ(at.rule.out_of_range, OutOfRange::kSkip);
  EXPECT_TRUE(parse_problem("tf.scatter_nd f32[3] i64[1,1] f32[1]").request.onto_zeros);
}

TEST(Names, BringTheirWords) {
  const Problem amax = parse_problem("Tensor.scatter_reduce f32[3] i64[1] f32[1] reduce=amax");
  EXPECT_EQ(amax.request.reduction, Reduction::kMax);
  EXPECT_EQ(call_text(*amax.name, amax.request),
            "data.scatter_reduce(dim=0, index=indices, src=updates, reduce=\"amax\")");
  EXPECT_EQ(parse_problem("Tensor.scatter_reduce f32[3] i64[1] f32[1]").request.reduction,
            Reduction::kAdd)
      << "it has no none";
}

TEST(Names, FillAsJaxDoes) {
  const auto fill = [](const char* problem) {
    return to_string(parse_problem(problem).request.rule.fill_value);
  };
  EXPECT_EQ(fill("jnp.take f32[3] i64[1]"), "nan");
  EXPECT_EQ(fill("jnp.take i8[3] i64[1]"), "-128");
  EXPECT_EQ(fill("jnp.take u16[3] i64[1]"), "65535");
  EXPECT_EQ(fill("jnp.take u64[3] i64[1]"), "18446744073709551615");
  EXPECT_EQ(fill("jnp.take bool[3] i64[1]"), "1");
  EXPECT_EQ(fill("jnp.take c64[3] i64[1]"), "(nan,nan)");
}

TEST(Names, RefuseWhatTheirLibraryRefuses) {
  EXPECT_THAT(said("torch.gather f32[2,3] i64[2,2] dim=1"), IsEmpty());
  EXPECT_THAT(
      said("torch.index_select f32[2,3] i64[2,2] dim=1"),
      ElementsAre("torch.index_select refuses this: indices have 2 dimensions, and it takes "
                  "0 or 1 dimensions."));
  EXPECT_THAT(
      said("F.embedding f32[4,2] i64[3] axis=1"),
      ElementsAre("torch.nn.functional.embedding refuses this: axis=1, and it has no axis."));
  EXPECT_THAT(
      said("numpy.take_along_axis f32[3,3] i64[2,2] axis=1 broadcast=0"),
      ElementsAre("numpy.take_along_axis refuses this: indices [2, 2] and data [3, 3] differ "
                  "off axis 1, where it takes equal sizes or 1."));
  EXPECT_THAT(said("DML_GATHER f32[3,3] i64[2] axis=-1"),
              ElementsAre("DML_GATHER refuses this: axis=-1, and its axis is unsigned."));
  EXPECT_THAT(said("torch.gather f32[3] u8[2]"),
              ElementsAre("torch.gather refuses this: indices are u8, and it takes i32 and i64."));
  EXPECT_THAT(said("numpy.add.at f32[3] i64[2] f32[2] reduction=max"),
              ElementsAre("numpy.add.at refuses this: reduction=max, and it has add only."));
  EXPECT_THAT(said("BNNSScatterND f32[3] i64[2,1] f32[2] reduction=max"),
              ElementsAre("BNNSScatterND refuses this: reduction=max, and it has add and none."));
}

TEST(Names, SayWhatTheirLibraryDoesInAnotherWay) {
  EXPECT_THAT(
      said("torch.index_select f32[3,2] i64[]"),
      ElementsAre("torch.index_select would do something else: it takes a scalar index for a "
                  "vector of one, so its output keeps the axis."));
  EXPECT_THAT(
      said("torch.gather f32[3] i64[2] negative=from_end out_of_range=clamp axis=0"),
      ElementsAre("torch.gather would do something else: negative indices are from end here, "
                  "and out of range there.",
                  "torch.gather would do something else: out of range means clamp here, and "
                  "fail there."));
  EXPECT_THAT(said("torch.gather f32[3] i64[2] out_of_range=fill fill_value=3"),
              ElementsAre("torch.gather would do something else: out of range means fill here, and "
                          "fail there."));
}

}  // namespace
}  // namespace sheaf::pictures

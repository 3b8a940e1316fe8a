// SPDX-License-Identifier: MIT
#include "plan/moe.h"

#include <optional>
#include <utility>

#include "plan/byte_ranges.h"
#include "plan/request.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Bytes of a row, if they follow one another and all rows have an address.
std::optional<int64_t> row_bytes_of(const TensorSpec& tokens, int64_t rows) {
  std::optional<int64_t> step = 1;
  for (int d = tokens.rank() - 1; d > 0 && step; --d) {
    if (tokens.sizes[d] > 1 && used_stride(tokens, d) != *step) {
      return std::nullopt;
    }
    step = checked_mul(*step, tokens.sizes[d]);
  }
  const auto bytes = step ? checked_mul(*step, tokens.dtype.bytes()) : std::nullopt;
  return bytes && checked_mul(*bytes, rows) ? bytes : std::nullopt;
}

MoeNest nest_of(const TensorSpec& tokens, const MoeRequest& request) {
  const TensorSpec& experts = request.experts;
  MoeNest nest;
  nest.choices = experts.sizes[1];
  nest.count = element_count(experts.sizes);
  nest.experts = request.options.experts;
  nest.capacity = request.options.capacity < 0 ? nest.count : request.options.capacity;
  nest.index_type = experts.dtype;
  nest.outer = used_stride(experts, 0);
  nest.inner = used_stride(experts, 1);
  const bool known = tokens.dtype.is_known() && byte_range(tokens);
  const auto bytes = known ? row_bytes_of(tokens, nest.count) : std::nullopt;
  if (!bytes) {
    refuse(request, {Reason::kShape, "tokens"}, "rows with gaps, or too large",
           cat("tokens is ", tokens.str(), ", but rows are moved as a whole"),
           "a contiguous copy of tokens");
  }
  nest.row_bytes = *bytes;
  nest.token_stride = used_stride(tokens, 0) * tokens.dtype.bytes();
  return nest;
}

// A gather from a table that is never read: every expert has to be one of its entries.
Plan check_of(const MoeRequest& request) {
  Request check = request_from(GatherOptions{.rule = {.negative = Negative::kOutOfRange}});
  check.name = kMoePermute;
  check.data = TensorSpec(u8, {request.options.experts}, {0});
  check.indices = request.experts;
  return make_plan(check);
}

}  // namespace

Refusal refusal_of(const MoeRequest& request, ErrorCode code, const Cause& cause, std::string what,
                   std::string detail, std::string next) {
  return {.code = code,
          .cause = cause,
          .who = std::string(kMoePermute),
          .what = std::move(what),
          .detail = std::move(detail),
          .given = cat("experts ", request.experts.str(), "   number of experts ",
                       request.options.experts, "   capacity ", request.options.capacity),
          .next = std::move(next)};
}

void refuse(const MoeRequest& request, const Cause& cause, std::string what, std::string detail,
            std::string next) {
  throw Error(refusal_of(request, ErrorCode::kInvalidArgument, cause, std::move(what),
                         std::move(detail), std::move(next)));
}

void check_request(const MoeRequest& request) {
  const TensorSpec& spec = request.experts;
  const MoeOptions& options = request.options;
  const bool sound = spec.rank() == 2 && spec.strides.size() == 2 && spec.sizes[0] >= 0 &&
                     spec.sizes[1] >= 0 && spec.dtype.is_known() && spec.dtype.is_integer() &&
                     byte_range(spec);
  if (!sound) {
    refuse(request, {Reason::kShape, "experts"}, "experts is no matrix of integers",
           cat("experts is ", spec.str()), "a matrix [tokens, choices] of an integer type");
  }
  if (options.experts < -1 || options.experts > kMostExperts || options.capacity < -1) {
    refuse(request, {Reason::kOption}, "option out of range",
           cat("there are ", options.experts, " experts with room for ", options.capacity, " rows"),
           "numbers that are not negative, or -1 for none");
  }
}

void throw_bad_expert(const MoeRequest& request, int64_t number, int64_t at,
                      const std::string& value, int64_t bad) {
  const int64_t choices = request.experts.sizes[1];
  const Dims position{at / choices, at % choices};
  throw IndexError(
      refusal_of(
          request, ErrorCode::kIndexOutOfRange, {Reason::kIndex, "experts"}, "expert out of range",
          cat("experts[", position[0], ", ", position[1], "] = ", value, ", but there are ", number,
              " experts; ", bad, " of ", element_count(request.experts.sizes), " are out of range"),
          "numbers from 0 on, and the number of experts"),
      position, bad);
}

void check_tokens(const TensorSpec& tokens, const TensorSpec& experts) {
  const bool fit = tokens.rank() > 0 && experts.rank() > 0 && tokens.sizes[0] == experts.sizes[0];
  if (!fit) {
    throw Error(
        Refusal{.cause = {Reason::kShape, "tokens", -1, tokens.sizes, experts.sizes},
                .who = std::string(kMoePermute),
                .what = "tokens do not fit",
                .detail = cat("tokens is ", bracketed(tokens.sizes), " and experts ",
                              bracketed(experts.sizes), ", but each token has a row of both"),
                .given = cat("tokens ", tokens.str(), "   experts ", experts.str()),
                .next = "tokens [tokens, ...] and experts [tokens, choices]"});
  }
}

MoePlan plan_moe_permute(const TensorSpec& tokens, const TensorSpec& experts,
                         const MoeOptions& options) {
  const MoeRequest request{experts, options};
  check_request(request);
  check_tokens(tokens, experts);
  if (options.experts < 0) {
    refuse(request, {Reason::kOption}, "how many experts are there?",
           "a plan does not see the numbers in experts", "the number of experts");
  }
  MoePlan plan;
  plan.tokens_ = tokens;
  plan.request_ = std::make_shared<const MoeRequest>(request);
  plan.nest_ = std::make_shared<const MoeNest>(nest_of(tokens, request));
  plan.check_ = std::make_shared<const Plan>(check_of(request));
  return plan;
}

}  // namespace sheaf

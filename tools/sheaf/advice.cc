// SPDX-License-Identifier: MIT
#include "advice.h"

#include <string>
#include <utility>

#include "plan/index_error.h"

namespace sheaf::cli {
namespace {

IndexError advising(const IndexError& error, const char* to_gather, const char* to_scatter) {
  Refusal refusal = error.refusal();
  if (refusal.next == kGatherAdvice) {
    refusal.next = to_gather;
  } else if (refusal.next == kScatterAdvice) {
    refusal.next = to_scatter;
  }
  return {std::move(refusal), error.position(), error.bad_count()};
}

}  // namespace

IndexError with_options(const IndexError& error) {
  return advising(error, "--out-of-range clamp, or --out-of-range fill --fill VALUE",
                  "--out-of-range clamp or --out-of-range skip");
}

IndexError with_bag_options(const IndexError& error) {
  constexpr const char* kAdvice = "--out-of-range clamp or --out-of-range skip";
  return advising(error, kAdvice, kAdvice);
}

IndexError with_attributes(const IndexError& error) {
  const IndexError advised = advising(error, "out_of_range=clamp or out_of_range=fill",
                                      "out_of_range=clamp or out_of_range=skip");
  Refusal refusal = advised.refusal();
  refusal.picture.clear();
  return {std::move(refusal), error.position(), error.bad_count()};
}

}  // namespace sheaf::cli

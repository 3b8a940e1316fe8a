// SPDX-License-Identifier: MIT
//
// Exceptions stop at the border.
#include "frontends/directml/refusal.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

using sheaf::Error;
using sheaf::ErrorCode;
using sheaf::dml::LastErrorText;
using sheaf::dml::detail::guarded;

namespace {

template <class Exception>
HRESULT thrown(const Exception& exception) {
  return guarded([&]() -> HRESULT { throw exception; });
}

}  // namespace

TEST(DirectmlResult, EveryExceptionHasItsResult) {
  EXPECT_EQ(thrown(Error(ErrorCode::kInvalidArgument, "bad")), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(), "bad");
  EXPECT_EQ(thrown(Error(ErrorCode::kIndexOutOfRange, "index")), E_INVALIDARG);
  EXPECT_EQ(thrown(Error(ErrorCode::kUnsupported, "no kernel")), DXGI_ERROR_UNSUPPORTED);
  EXPECT_STREQ(LastErrorText(), "no kernel");
  EXPECT_EQ(thrown(Error(ErrorCode::kOutOfMemory, "full")), E_OUTOFMEMORY);
  for (const ErrorCode code : {ErrorCode::kDevice, ErrorCode::kFile, ErrorCode::kCancelled}) {
    EXPECT_EQ(thrown(Error(code, "no result of its own")), E_FAIL);
  }
  EXPECT_STREQ(LastErrorText(), "no result of its own");
  EXPECT_EQ(thrown(std::bad_alloc()), E_OUTOFMEMORY);
  EXPECT_STREQ(LastErrorText(), "out of memory");
  EXPECT_EQ(thrown(std::runtime_error("other")), E_FAIL);
  EXPECT_STREQ(LastErrorText(), "other");
  EXPECT_EQ(thrown(1), E_FAIL);
  EXPECT_STREQ(LastErrorText(), "unknown failure");
}

TEST(DirectmlResult, ARefusalKeepsItsWords) {
  const auto refuse = [] {
    sheaf::dml::detail::refuse(
        {.who = "Graph", .what = "no nodes", .detail = "there are 0", .next = "a node"});
    return S_OK;
  };
  EXPECT_EQ(guarded(refuse), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(), "Graph: no nodes\n  there are 0\n  try: a node");
}

TEST(DirectmlResult, NothingThrownIsNothingSaid) {
  EXPECT_EQ(thrown(std::runtime_error("before")), E_FAIL);
  EXPECT_EQ(guarded([] { return S_FALSE; }), S_FALSE);
  EXPECT_STREQ(LastErrorText(), "");
}

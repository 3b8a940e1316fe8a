// SPDX-License-Identifier: MIT
//
// Every kind of exception ends at the edge to C.
#include "frontends/c/boundary.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "sheaf/error.h"

namespace sheaf {
namespace {

TEST(CapiBoundary, Errors) {
  const auto status_of = [](ErrorCode code) {
    return at_c_boundary([&] { throw Error(code, "text of " + std::to_string(int(code))); });
  };
  EXPECT_EQ(status_of(ErrorCode::kInvalidArgument), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(), "text of 1");
  EXPECT_EQ(status_of(ErrorCode::kIndexOutOfRange), SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_STREQ(sheaf_last_error(), "text of 2");
  EXPECT_EQ(status_of(ErrorCode::kUnsupported), SHEAF_UNSUPPORTED);
  EXPECT_STREQ(sheaf_last_error(), "text of 3");
  EXPECT_EQ(status_of(ErrorCode::kOutOfMemory), SHEAF_OUT_OF_MEMORY);
  EXPECT_STREQ(sheaf_last_error(), "text of 4");
  EXPECT_EQ(status_of(ErrorCode::kDevice), SHEAF_DEVICE_ERROR);
  EXPECT_STREQ(sheaf_last_error(), "text of 5");
  EXPECT_EQ(status_of(ErrorCode::kFile), SHEAF_FILE_ERROR);
  EXPECT_EQ(status_of(ErrorCode::kCancelled), SHEAF_CANCELLED);
  EXPECT_STREQ(sheaf_last_error(), "text of 7");
  EXPECT_EQ(status_of(ErrorCode{77}), SHEAF_INTERNAL_ERROR);
}

TEST(CapiBoundary, OtherExceptions) {
  EXPECT_EQ(at_c_boundary([] { throw std::bad_alloc(); }), SHEAF_OUT_OF_MEMORY);
  EXPECT_STREQ(sheaf_last_error(),
               "sheaf: out of memory\n"
               "  the call could not allocate what it needs to run, or the text of its error\n"
               "  for the same reason no shapes are shown\n"
               "  try: freeing memory, then the same call again");
  EXPECT_EQ(at_c_boundary([] { throw std::logic_error("broken"); }), SHEAF_INTERNAL_ERROR);
  EXPECT_STREQ(sheaf_last_error(), "broken");
  EXPECT_EQ(at_c_boundary([] { throw 5; }), SHEAF_INTERNAL_ERROR);
  EXPECT_STREQ(sheaf_last_error(), "sheaf: an exception of unknown type");
}

TEST(CapiBoundary, SuccessKeepsTheText) {
  at_c_boundary([] { throw std::logic_error("earlier"); });
  EXPECT_EQ(at_c_boundary([] {}), SHEAF_OK);
  EXPECT_STREQ(sheaf_last_error(), "earlier");
}

}  // namespace
}  // namespace sheaf

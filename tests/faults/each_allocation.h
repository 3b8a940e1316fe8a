// SPDX-License-Identifier: MIT
//
// One call, with each of its allocations failing in turn, and all after it: it reports that memory
// ran out, has left its output alone and keeps no block, and the same call works as soon as there
// is memory again. Then each fails alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "faults/failing_allocator.h"
#include "sheaf/error.h"

namespace sheaf::faults {

// The output of all calls: floats, untouched as long as they are -1.
inline constexpr size_t kOutput = 64;
using Output = float[kOutput];

inline void clear(Output& output) {
  for (float& value : output) {
    value = -1;
  }
}
inline bool untouched(const Output& output) {
  for (const float value : output) {
    if (value != -1) {
      return false;
    }
  }
  return true;
}

enum class End { kDone, kOutOfMemory, kOther };

template <class Call>
End end_of(const Call& call, Output& output) {
  try {
    call(output);
  } catch (const std::bad_alloc&) {
    return End::kOutOfMemory;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kOutOfMemory ? End::kOutOfMemory : End::kOther;
  }
  return End::kDone;
}

// For interfaces that return a code.
inline void throw_if_out_of_memory(bool out_of_memory) {
  if (out_of_memory) {
    throw std::bad_alloc();
  }
}

// As if one allocation alone were too large: the call does without it, or reports it.
template <class Call>
void fail_one_allocation(const char* name, const Call& call, int number, const Output& expected) {
  Output output;
  clear(output);
  const long before = live_blocks();
  fail_allocation(number);
  const End end = end_of(call, output);
  allow_allocations(-1);
  EXPECT_EQ(live_blocks(), before) << name << " leaks, allocation " << number << " alone";
  EXPECT_TRUE(end == End::kDone ? std::equal(output, output + kOutput, expected)
                                : end == End::kOutOfMemory && untouched(output))
      << name << ", allocation " << number << " alone";
}

// `call` writes to the output it is given, and throws. Returns how many allocations it makes.
template <class Call>
int fail_each_allocation(const char* name, const Call& call) {
  Output expected, output;
  clear(expected);
  EXPECT_EQ(end_of(call, expected), End::kDone) << name;  // and whatever is made once, is made
  const long before = live_blocks();
  for (int allowed = 0; allowed < 2000; ++allowed) {
    clear(output);
    allow_allocations(allowed);
    const End end = end_of(call, output);
    allow_allocations(-1);
    EXPECT_EQ(live_blocks(), before) << name << " leaks, allocation " << allowed;
    if (end == End::kDone) {
      EXPECT_EQ(std::vector<float>(output, output + kOutput),
                std::vector<float>(expected, expected + kOutput))
          << name;
      return allowed;
    }
    EXPECT_EQ(end, End::kOutOfMemory) << name << ", allocation " << allowed;
    EXPECT_TRUE(untouched(output)) << name << " has changed its output, allocation " << allowed;
    fail_one_allocation(name, call, allowed, expected);
    clear(output);
    EXPECT_EQ(end_of(call, output), End::kDone) << name << ", after allocation " << allowed;
    if (testing::Test::HasFailure()) {
      return allowed;
    }
  }
  ADD_FAILURE() << name << " never succeeds";
  return -1;
}

}  // namespace sheaf::faults

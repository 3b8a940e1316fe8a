// SPDX-License-Identifier: MIT
//
// A thread's first error when no byte is left: the code is returned, and there is a text.
#include <gtest/gtest.h>
#include <sheaf/c.h>
#include <sheaf/directml.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "helpers/sanitized.h"
#include "support/error_text.h"

namespace sheaf {
namespace {

// Takes all memory that this process may still have. Nothing is given back: it exits.
void take_all_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;  // nothing more is mapped; what the heap holds already is taken below
  setrlimit(RLIMIT_AS, &limit);
  for (size_t bytes = size_t{1} << 20; bytes >= 8; bytes /= 2) {
    while (std::malloc(bytes) != nullptr) {
    }
  }
}

// Runs `call` on a thread without memory, in a process that ends; its exit code is 0 if `call`
// gives true.
template <class Call>
[[noreturn]] void on_an_exhausted_thread(Call call) {
  bool good = false;
  std::thread([&] {
    take_all_memory();
    good = call();
  }).join();
  std::_Exit(good ? 0 : 1);
}

bool c_refuses() {
  const sheaf_status status = sheaf_plan_run(nullptr, nullptr, nullptr, nullptr, nullptr);
  return (status == SHEAF_INVALID_ARGUMENT || status == SHEAF_OUT_OF_MEMORY) &&
         std::strlen(sheaf_last_error()) > 0;
}

bool directml_refuses() {
  const HRESULT result =
      sheaf::dml::directml::DMLCreateDevice(static_cast<DML_CREATE_DEVICE_FLAGS>(77), nullptr);
  return result < 0 && std::strlen(sheaf::dml::LastErrorText()) > 0;
}

TEST(Exhausted, AThreadsFirstErrorIsReported) {
#if SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers need memory of their own";
#endif
  EXPECT_EXIT(on_an_exhausted_thread(c_refuses), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(on_an_exhausted_thread(directml_refuses), testing::ExitedWithCode(0), "");
}

TEST(ErrorTextTest, LongTextsAreCut) {
  thread_local ErrorText error;
  EXPECT_STREQ(error.text, "");
  error.keep(std::string(ErrorText::kBytes, 'x').c_str());
  EXPECT_EQ(std::strlen(error.text), ErrorText::kBytes - 1);
  error.keep("short");
  EXPECT_STREQ(error.text, "short");
  error.clear();
  EXPECT_STREQ(error.text, "");
}

}  // namespace
}  // namespace sheaf

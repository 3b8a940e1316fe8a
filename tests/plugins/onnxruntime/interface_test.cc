// SPDX-License-Identifier: MIT
//
// Our declarations of ONNX Runtime's interface against an installed one: every position that is
// named is called, or used through one that is, and answers as the declaration says. The library is
// that of the Python package, in the environment of scripts/peers or where SHEAF_ONNXRUNTIME says.
#include "plugins/onnxruntime/interface.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <type_traits>

namespace sheaf::ort {
namespace {

std::string find_library() {
  if (const char* const given = std::getenv("SHEAF_ONNXRUNTIME"); given != nullptr) {
    return given;
  }
  const std::filesystem::path root = "build/venv/lib";
  std::error_code none;
  for (const auto& python : std::filesystem::directory_iterator(root, none)) {
    const auto folder = python.path() / "site-packages/onnxruntime/capi";
    for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
      if (file.path().filename().string().starts_with("libonnxruntime.so")) {
        return std::filesystem::absolute(file.path());
      }
    }
  }
  return "";
}

class Interface : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = find_library();
    if (path.empty()) {
      GTEST_SKIP() << "no ONNX Runtime is installed (scripts/peers)";
    }
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr && std::getenv("SHEAF_ONNXRUNTIME") == nullptr) {
      GTEST_SKIP() << dlerror();  // for the other processor (scripts/cross)
    }
    ASSERT_NE(library, nullptr) << dlerror();
    using GetBase = const ApiBase* (*)();
    const auto get_base = reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase"));
    ASSERT_NE(get_base, nullptr);
    base_ = get_base();
    main_ = base_->get_api(kApiVersion);
    ASSERT_NE(main_, nullptr);
    provider_ = call(kGetEpApi);
    ASSERT_NE(provider_, nullptr);
  }

  template <class Table, class Result, class... Args>
  Result call(Slot<Table, Result(Args...)> slot, std::type_identity_t<Args>... args) const {
    using Function = Result (*)(Args...);
    const void* const table = std::is_same_v<Table, MainTable> ? main_ : provider_;
    return static_cast<const Function*>(table)[slot.position](args...);
  }

  // The text of a status, "" for none.
  std::string text(Status* status) const {
    if (status == nullptr) {
      return "";
    }
    std::string told = call(kGetErrorMessage, status);
    call(kReleaseStatus, status);
    return told;
  }

  const ApiBase* base_ = nullptr;
  const void* main_ = nullptr;
  const void* provider_ = nullptr;
};

TEST_F(Interface, VersionsAreAsDeclared) {
  const std::string version = base_->version_string();
  EXPECT_THAT(version, testing::StartsWith("1."));
  const auto minor = static_cast<uint32_t>(std::stoi(version.substr(2)));
  EXPECT_GE(minor, kApiVersion);
  // A table for each minor version up to its own.
  EXPECT_NE(base_->get_api(minor), nullptr);
  EXPECT_EQ(base_->get_api(minor + 1), nullptr);
}

TEST_F(Interface, Statuses) {
  Status* const status = call(kCreateStatus, kNotImplemented, "not yet");
  EXPECT_EQ(call(kGetErrorCode, status), kNotImplemented);
  EXPECT_EQ(text(status), "not yet");
}

// Functions of the main table that those here do not reach: with null for the object they refuse,
// where their neighbours would not. Positions that a session uses are held by the tests in Python.
TEST_F(Interface, LandmarksOfTheMainTable) {
  const Main<const char*()> build_info{254};  // the last of version 15
  EXPECT_THAT(call(build_info), testing::HasSubstr("ORT Build Info"));
  EXPECT_THAT(text(call(kKernelContextParallelFor, nullptr, nullptr, 1, 0, nullptr)),
              testing::HasSubstr("context"));
  const Main<Status*(const char*, int32_t, int, int32_t, void**)> create_memory_info{68};
  const Main<Status*(void*, void*, size_t, const int64_t*, size_t, ElementType, Value**)>
      create_tensor{49};
  const Main<void(Value*)> release_value{96};
  const Main<void(void*)> release_memory_info{94};
  void* memory = nullptr;
  ASSERT_EQ(text(call(create_memory_info, "Cpu", 0, 0, 0, &memory)), "");
  int64_t elements[6] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[2] = {2, 3};
  Value* value = nullptr;
  ASSERT_EQ(text(call(create_tensor, memory, elements, sizeof elements, sizes, 2, kInt64, &value)),
            "");
  ElementType type = kUndefined;
  const int64_t* told = nullptr;
  size_t rank = 0;
  const void* data = nullptr;
  void* mutable_data = nullptr;
  EXPECT_EQ(text(call(kGetTypeAndShape, value, &type, &told, &rank)), "");
  EXPECT_EQ(type, kInt64);
  ASSERT_EQ(rank, 2U);
  EXPECT_EQ(told[0], 2);
  EXPECT_EQ(told[1], 3);
  EXPECT_EQ(text(call(kGetTensorData, value, &data)), "");
  EXPECT_EQ(data, elements);
  EXPECT_EQ(text(call(kGetTensorMutableData, value, &mutable_data)), "");
  EXPECT_EQ(mutable_data, elements);
  call(release_value, value);
  call(release_memory_info, memory);
}

TEST_F(Interface, KernelsAreDefinedAsDeclared) {
  const Provider<const char*(const KernelDef*)> operator_of{34};
  const Provider<const char*(const KernelDef*)> domain_of{35};
  const Provider<Status*(const KernelDef*, int*, int*)> versions_of{36};
  const Provider<const char*(const KernelDef*)> provider_of{37};
  KernelDefBuilder* builder = nullptr;
  ASSERT_EQ(text(call(kCreateKernelDefBuilder, &builder)), "");
  EXPECT_EQ(text(call(kSetOperatorType, builder, "Gather")), "");
  EXPECT_EQ(text(call(kSetDomain, builder, "some.domain")), "");
  EXPECT_EQ(text(call(kSetSinceVersion, builder, 11, 12)), "");
  EXPECT_THAT(text(call(kSetSinceVersion, builder, 0, 12)), testing::HasSubstr("Start version"));
  EXPECT_EQ(text(call(kSetExecutionProvider, builder, "SheafExecutionProvider")), "");
  const DataType* type = nullptr;
  ASSERT_EQ(text(call(kGetTensorDataType, kFloat, &type)), "");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(text(call(kAddTypeConstraint, builder, "T", &type, 1)), "");
  const int first = 0;
  EXPECT_EQ(text(call(kAddMutableAliases, builder, &first, &first, 1)), "");
  KernelDef* definition = nullptr;
  ASSERT_EQ(text(call(kBuildKernelDef, builder, &definition)), "");
  EXPECT_STREQ(call(operator_of, definition), "Gather");
  EXPECT_STREQ(call(domain_of, definition), "some.domain");
  EXPECT_STREQ(call(provider_of, definition), "SheafExecutionProvider");
  int from = 0;
  int to = 0;
  EXPECT_EQ(text(call(versions_of, definition, &from, &to)), "");
  EXPECT_EQ(from, 11);
  EXPECT_EQ(to, 12);
  KernelRegistry* registry = nullptr;
  ASSERT_EQ(text(call(kCreateKernelRegistry, &registry)), "");
  const CreateKernel create = [](void*, const KernelInfo*, KernelImpl**) -> Status* {
    return nullptr;
  };
  EXPECT_EQ(text(call(kAddKernel, registry, definition, create, nullptr)), "");
  call(kReleaseKernelRegistry, registry);
  call(kReleaseKernelDef, definition);
  call(kReleaseKernelDefBuilder, builder);
}

}  // namespace
}  // namespace sheaf::ort

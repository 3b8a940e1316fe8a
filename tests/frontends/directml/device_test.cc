// SPDX-License-Identifier: MIT
//
// The device and its objects: arguments, answers, lifetimes.
#include <gmock/gmock.h>

#include <cstdint>
#include <thread>

#include "frontends/directml/dml.h"

using namespace dml_test;
using testing::StartsWith;

namespace {

HRESULT create(DML_FEATURE_LEVEL level, IDMLDevice** made) {
  return DMLCreateDevice1(DML_CREATE_DEVICE_FLAG_NONE, level, made);
}

}  // namespace

TEST(DirectmlDevice, LevelsThatDoNotExist) {
  for (const int level : {0, 1, 0x0FFF, 0x1001, 0x1100, 0x2200, 0x6500, 0x7000, -1, INT32_MAX}) {
    auto* made = reinterpret_cast<IDMLDevice*>(alignof(std::max_align_t));
    EXPECT_EQ(create(static_cast<DML_FEATURE_LEVEL>(level), &made), DXGI_ERROR_UNSUPPORTED);
    EXPECT_EQ(made, nullptr);
    EXPECT_THAT(LastErrorText(), StartsWith("DMLCreateDevice: feature level not supported\n"));
  }
  EXPECT_EQ(create(static_cast<DML_FEATURE_LEVEL>(0x7000), nullptr), DXGI_ERROR_UNSUPPORTED);
  EXPECT_STREQ(LastErrorText(),
               "DMLCreateDevice: feature level not supported\n"
               "  0x7000 is not the value of a level up to DML_FEATURE_LEVEL_6_4\n"
               "  flags 0   feature level 0x7000\n"
               "  try: DML_FEATURE_LEVEL_6_4");
}

TEST(DirectmlDevice, UnknownFlags) {
  ComPtr<IDMLDevice> made;
  for (const int flags : {2, 3, -1}) {
    EXPECT_EQ(DMLCreateDevice(static_cast<DML_CREATE_DEVICE_FLAGS>(flags), &made), E_INVALIDARG);
    EXPECT_FALSE(made);
    EXPECT_THAT(
        LastErrorText(),
        StartsWith("DMLCreateDevice: unknown flags\n  flags = " + std::to_string(flags) + "\n"));
  }
}

TEST(DirectmlDevice, IsOfTheHighestLevelByDefault) {
  for (const DML_CREATE_DEVICE_FLAGS flags :
       {DML_CREATE_DEVICE_FLAG_NONE, DML_CREATE_DEVICE_FLAG_DEBUG}) {
    ComPtr<IDMLDevice> made;
    ASSERT_EQ(DMLCreateDevice(flags, &made), S_OK);
    const DML_FEATURE_QUERY_FEATURE_LEVELS query{15, kLevels};
    DML_FEATURE_DATA_FEATURE_LEVELS answer{};
    EXPECT_EQ(made->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query,
                                        sizeof answer, &answer),
              S_OK);
    EXPECT_EQ(answer.MaxSupportedFeatureLevel, DML_FEATURE_LEVEL_6_4);
  }
}

TEST(DirectmlDevice, EveryLevelCanBeMade) {
  for (const DML_FEATURE_LEVEL level : kLevels) {
    EXPECT_EQ(create(level, nullptr), S_FALSE);  // only asked
    ComPtr<IDMLDevice> made;
    EXPECT_EQ(create(level, &made), S_OK);
    EXPECT_TRUE(made);
  }
}

TEST(DirectmlDevice, UnknownFeatures) {
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT answer{7};
  for (const int feature : {2, -1, INT32_MAX}) {
    EXPECT_EQ(
        device()->CheckFeatureSupport(static_cast<DML_FEATURE>(feature), 4, &answer, 4, &answer),
        DXGI_ERROR_UNSUPPORTED);
    EXPECT_THAT(LastErrorText(), StartsWith("CheckFeatureSupport: unknown feature\n  feature = " +
                                            std::to_string(feature) + "\n"));
  }
  EXPECT_EQ(answer.IsSupported, 7);
}

TEST(DirectmlDevice, FeatureStructsThatDoNotFit) {
  struct Case {
    DML_FEATURE feature;
    UINT query_size, support_size;
  };
  const ComPtr<IDMLDevice> made = device();
  alignas(16) char query[64] = {}, answer[64];
  std::memset(answer, kUntouched, sizeof answer);
  constexpr auto kType = DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT;
  constexpr auto kLevel = DML_FEATURE_FEATURE_LEVELS;
  for (const Case& c : {Case{kType, 0, 4}, Case{kType, 8, 4}, Case{kType, 4, 0}, Case{kType, 4, 8},
                        Case{kLevel, 4, 4}, Case{kLevel, 12, 4}, Case{kLevel, 16, 8},
                        Case{kLevel, UINT32_MAX, UINT32_MAX}}) {
    EXPECT_EQ(made->CheckFeatureSupport(c.feature, c.query_size, query, c.support_size, answer),
              E_INVALIDARG);
    EXPECT_THAT(LastErrorText(), StartsWith("CheckFeatureSupport: structs do not fit\n"));
  }
  EXPECT_EQ(made->CheckFeatureSupport(kType, 4, nullptr, 4, answer), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), testing::HasSubstr("given were 4 and 4, but the query is null"));
  EXPECT_EQ(made->CheckFeatureSupport(kLevel, 16, query, 4, nullptr), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), testing::HasSubstr("but the support data is null"));
  for (const char byte : answer) {
    EXPECT_EQ(static_cast<unsigned char>(byte), kUntouched);
  }
}

TEST(DirectmlDevice, FeatureLevelQueriesWithoutLevels) {
  const ComPtr<IDMLDevice> made = device(DML_FEATURE_LEVEL_2_0);
  DML_FEATURE_DATA_FEATURE_LEVELS answer{DML_FEATURE_LEVEL_1_0};
  const auto ask = [&](UINT count, const DML_FEATURE_LEVEL* levels) {
    const DML_FEATURE_QUERY_FEATURE_LEVELS query{count, levels};
    return made->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query,
                                     sizeof answer, &answer);
  };
  EXPECT_EQ(ask(0, kLevels), E_INVALIDARG);
  EXPECT_EQ(ask(3, nullptr), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(),
              StartsWith("CheckFeatureSupport: no feature levels\n"
                         "  RequestedFeatureLevelCount = 3, and the list is null\n"));
  EXPECT_EQ(ask(13, kLevels + 2), DXGI_ERROR_UNSUPPORTED);
  EXPECT_THAT(LastErrorText(), StartsWith("CheckFeatureSupport: no feature level supported\n"));
  EXPECT_EQ(answer.MaxSupportedFeatureLevel, DML_FEATURE_LEVEL_1_0);  // not written
}

TEST(DirectmlDevice, CreateOperatorWithoutADescriptor) {
  const ComPtr<IDMLDevice> made = device();
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(made->CreateOperator(nullptr, &op), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(),
               "CreateOperator: null pointer\n"
               "  the DML_OPERATOR_DESC is null\n"
               "  device of DML_FEATURE_LEVEL_6_4\n"
               "  try: pass a descriptor");
  for (const DML_OPERATOR_TYPE type :
       {DML_OPERATOR_GATHER, DML_OPERATOR_GATHER_ELEMENTS, DML_OPERATOR_GATHER_ND,
        DML_OPERATOR_GATHER_ND1, DML_OPERATOR_SCATTER, DML_OPERATOR_SCATTER_ND}) {
    const DML_OPERATOR_DESC desc{type, nullptr};
    EXPECT_EQ(made->CreateOperator(&desc, &op), E_INVALIDARG);
    EXPECT_THAT(LastErrorText(), StartsWith("CreateOperator: null pointer\n  the Desc of DML_"));
  }
}

TEST(DirectmlDevice, UnknownOperatorTypes) {
  const ComPtr<IDMLDevice> made = device();
  const DML_GATHER_OPERATOR_DESC gather_desc{};
  for (int type = -2; type < 300; ++type) {
    if (type == 67 || type == 94 || (type >= 107 && type <= 109) || type == 140) {
      continue;
    }
    const DML_OPERATOR_DESC desc{static_cast<DML_OPERATOR_TYPE>(type), &gather_desc};
    auto* op = reinterpret_cast<IDMLOperator*>(alignof(std::max_align_t));
    EXPECT_EQ(made->CreateOperator(&desc, &op), E_INVALIDARG);
    EXPECT_EQ(op, nullptr);
    EXPECT_THAT(LastErrorText(), StartsWith("CreateOperator: no such operator\n  Type = " +
                                            std::to_string(type) + " is no gather or scatter\n"));
  }
}

TEST(DirectmlDevice, CompileOperatorRefusals) {
  const ComPtr<IDMLDevice> made = device(), other = device();
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(sound_gather().create(made.Get(), &op), S_OK);
  auto* compiled = reinterpret_cast<IDMLCompiledOperator*>(alignof(std::max_align_t));
  EXPECT_EQ(made->CompileOperator(nullptr, DML_EXECUTION_FLAG_NONE, &compiled), E_INVALIDARG);
  EXPECT_EQ(compiled, nullptr);
  EXPECT_THAT(LastErrorText(), StartsWith("CompileOperator: null pointer\n"));
  EXPECT_EQ(other->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(),
               "CompileOperator: operator of another device\n"
               "  the operator was created by another device\n"
               "  data f32[3, 2]   indices u32[4]   axis 0   output f32[4, 2]\n"
               "  try: an operator of this device");
  for (const int flags : {8, 16, -1}) {
    EXPECT_EQ(made->CompileOperator(op.Get(), static_cast<DML_EXECUTION_FLAGS>(flags), &compiled),
              E_INVALIDARG);
    EXPECT_THAT(LastErrorText(), StartsWith("DML_OPERATOR_GATHER: unknown execution flags\n"));
  }
}

TEST(DirectmlDevice, EveryExecutionFlagIsAccepted) {
  const ComPtr<IDMLDevice> made = device();
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(sound_gather().create(made.Get(), &op), S_OK);
  for (int flags = 0; flags < 8; ++flags) {
    EXPECT_EQ(made->CompileOperator(op.Get(), static_cast<DML_EXECUTION_FLAGS>(flags), nullptr),
              S_FALSE);
  }
}

TEST(DirectmlDevice, DispatchWithoutAnOperatorOfItsOwn) {
  const Compiled compiled = compile(sound_gather());
  EXPECT_EQ(compiled.device->Dispatch(nullptr, {}), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), StartsWith("Dispatch: null pointer\n"));
  EXPECT_EQ(compiled.device->InitializeOperator(nullptr, {}), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), StartsWith("InitializeOperator: null pointer\n"));
  EXPECT_EQ(device()->Dispatch(compiled.op.Get(), {}), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), StartsWith("Dispatch: operator of another device\n"));
}

TEST(DirectmlDevice, SuccessClearsTheText) {
  EXPECT_EQ(device()->CreateOperator(nullptr, nullptr), E_INVALIDARG);
  EXPECT_STRNE(LastErrorText(), "");
  EXPECT_EQ(sound_gather().create(device().Get(), nullptr), S_FALSE);
  EXPECT_STREQ(LastErrorText(), "");
}

TEST(DirectmlDevice, EachThreadHasItsOwnText) {
  const ComPtr<IDMLDevice> made = device();
  EXPECT_EQ(made->CreateOperator(nullptr, nullptr), E_INVALIDARG);
  std::thread([&] {
    EXPECT_STREQ(LastErrorText(), "");
    EXPECT_EQ(made->Dispatch(nullptr, {}), E_INVALIDARG);
    EXPECT_THAT(LastErrorText(), StartsWith("Dispatch: null pointer\n"));
  }).join();
  EXPECT_THAT(LastErrorText(), StartsWith("CreateOperator: null pointer\n"));
}

TEST(DirectmlDevice, CountsReferences) {
  IDMLDevice* made = nullptr;
  ASSERT_EQ(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &made), S_OK);
  EXPECT_EQ(made->AddRef(), 2u);
  IDMLOperator* op = nullptr;
  ASSERT_EQ(sound_gather().create(made, &op), S_OK);
  EXPECT_EQ(made->AddRef(), 4u);  // the operator holds one
  EXPECT_EQ(made->Release(), 3u);
  EXPECT_EQ(op->Release(), 0u);
  EXPECT_EQ(made->Release(), 1u);
  EXPECT_EQ(made->Release(), 0u);
}

TEST(DirectmlDevice, ObjectsOutliveWhatTheyWereMadeFrom) {
  ComPtr<IDMLDevice> made = device();
  ComPtr<IDMLCompiledOperator> compiled;
  {
    ComPtr<IDMLOperator> op;
    Call call = sound_gather();
    ASSERT_EQ(call.create(made.Get(), &op), S_OK);
    ASSERT_EQ(made->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled), S_OK);
    call.input.sizes = {9, 9};  // descriptors are not kept
  }
  IDMLDevice* alive = made.Get();
  made.Reset();  // the compiled operator keeps its device
  const std::vector<float> input{1, 2, 3, 4, 5, 6};
  const Uints indices{2, 1, 0, 0};
  std::vector<float> output(8);
  const WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
  EXPECT_EQ(alive->Dispatch(compiled.Get(), buffers.bindings()), S_OK) << LastErrorText();
  EXPECT_EQ(output, (std::vector<float>{5, 6, 3, 4, 1, 2, 1, 2}));
}

TEST(DirectmlComPtr, CopiesMovesAndHandsOver) {
  ComPtr<IDMLDevice> first = device();
  ComPtr<IDMLDevice> second = first;
  EXPECT_EQ(first.Get(), second.Get());
  ComPtr<IDMLDevice> third = std::move(second);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): what a move leaves behind is the point
  EXPECT_EQ(first->AddRef(), 3u);
  first->Release();
  IDMLDevice* raw = third.Detach();
  EXPECT_FALSE(third);
  second.Attach(raw);
  EXPECT_EQ(second.Get(), first.Get());
  second = nullptr;
  EXPECT_EQ(*first.GetAddressOf(), first.Get());
  EXPECT_EQ(*first.ReleaseAndGetAddressOf(), nullptr);
}

// One compiled operator, many threads.
TEST(DirectmlThreads, DispatchAtOnce) {
  const Compiled compiled = compile(sound_gather());
  std::vector<std::thread> threads;
  for (float base = 0; base < 4; ++base) {
    threads.emplace_back([&compiled, base] {
      const std::vector<float> input{base, base + 1, base + 2, base + 3, base + 4, base + 5};
      const Uints indices{2, 1, 0, 7};
      for (int round = 0; round < 200; ++round) {
        std::vector<float> output(8);
        const WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
        ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK);
        ASSERT_EQ(output, (std::vector<float>{base + 4, base + 5, base + 2, base + 3, base,
                                              base + 1, base + 4, base + 5}));
        ASSERT_EQ(compiled.device->CreateOperator(nullptr, nullptr), E_INVALIDARG);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

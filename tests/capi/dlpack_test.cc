// SPDX-License-Identifier: MIT
#include "frontends/c/dlpack.h"

#include <string>

#include "helpers.h"
#include "sheaf/error.h"

namespace sheaf::capi_tests {
namespace {

using testing::HasSubstr;

const DlpackArgument kArgument{"gather", "data"};

std::string refusal(const DLTensor& tensor) {
  try {
    tensor_from_dlpack(tensor, kArgument);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(Dlpack, WholeTextOfARefusal) {
  Values<float> values({1, 2}, {2, 1});
  values.tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(refusal(values.tensor),
            "gather: tensor is not in host memory\n"
            "  data: DLPack device type 2, but 1 (kDLCPU) or 3 (kDLCUDAHost) is needed\n"
            "  data float32[2, 1]\n"
            "  try: a copy in host memory");
}

TEST(Dlpack, RankOutOfRange) {
  Values<float> values({1}, {1});
  for (const int32_t ndim : {-1, -33, 33, 255, INT32_MAX, INT32_MIN}) {
    values.tensor.ndim = ndim;
    EXPECT_THAT(
        refusal(values.tensor),
        HasSubstr("gather: rank out of range\n  data: ndim = " + std::to_string(ndim) +
                  ", but 0..32 is supported\n  data float32, ndim " + std::to_string(ndim)));
  }
}

TEST(Dlpack, NullShape) {
  Values<float> values({1}, {1});
  values.tensor.shape = nullptr;
  EXPECT_THAT(refusal(values.tensor), HasSubstr("null shape\n  data: ndim = 1, but shape is null"));
  values.tensor.ndim = 0;
  EXPECT_EQ(refusal(values.tensor), "accepted");
}

TEST(Dlpack, NullTensor) {
  EXPECT_THROW(required_tensor(nullptr, kArgument), Error);
  const DLTensor tensor = {};
  EXPECT_EQ(&required_tensor(&tensor, kArgument), &tensor);
}

TEST(Dlpack, Devices) {
  Values<float> values({1}, {1});
  for (const int32_t device : {-1, 0, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 99}) {
    values.tensor.device.device_type = static_cast<DLDeviceType>(device);
    EXPECT_THAT(refusal(values.tensor), HasSubstr("not in host memory"));
    EXPECT_EQ(spec_from_dlpack(values.tensor, kArgument), TensorSpec(f32, {1}));
  }
  values.tensor.device.device_type = kDLCUDAHost;
  EXPECT_EQ(refusal(values.tensor), "accepted");
}

TEST(Dlpack, ByteOffset) {
  Values<float> values({1, 2, 3}, {1});
  values.tensor.byte_offset = 8;
  EXPECT_EQ(tensor_from_dlpack(values.tensor, kArgument).data, &values.values[2]);
  values.tensor.byte_offset = UINT64_MAX;
  EXPECT_THAT(refusal(values.tensor),
              HasSubstr("byte_offset out of range\n  data: byte_offset = 18446744073709551615 "
                        "leaves the address space"));
  values.tensor.byte_offset = 16;
  values.tensor.data = reinterpret_cast<void*>(UINTPTR_MAX - 8);
  EXPECT_THAT(refusal(values.tensor), HasSubstr("byte_offset = 16 leaves the address space"));
  values.tensor.byte_offset = uint64_t{1} << 63;  // within the address space, beyond any object
  values.tensor.data = reinterpret_cast<void*>(16);
  EXPECT_THAT(refusal(values.tensor), HasSubstr("byte_offset out of range"));
  values.tensor.data = nullptr;  // stays null, for the plan to refuse
  EXPECT_EQ(tensor_from_dlpack(values.tensor, kArgument).data, nullptr);
}

struct TypeCase {
  DLDataType dlpack;
  DType type;
  const char* name;
};

TEST(Dlpack, TypesBothWays) {
  const TypeCase cases[] = {
      {{kDLInt, 8, 1}, i8, "int8"},
      {{kDLInt, 16, 1}, i16, "int16"},
      {{kDLInt, 32, 1}, i32, "int32"},
      {{kDLInt, 64, 1}, i64, "int64"},
      {{kDLUInt, 8, 1}, u8, "uint8"},
      {{kDLUInt, 16, 1}, u16, "uint16"},
      {{kDLUInt, 32, 1}, u32, "uint32"},
      {{kDLUInt, 64, 1}, u64, "uint64"},
      {{kDLFloat, 16, 1}, f16, "float16"},
      {{kDLFloat, 32, 1}, f32, "float32"},
      {{kDLFloat, 64, 1}, f64, "float64"},
      {{kDLBfloat, 16, 1}, bf16, "bfloat16"},
      {{kDLComplex, 64, 1}, c64, "complex64"},
      {{kDLComplex, 128, 1}, c128, "complex128"},
      {{kDLBool, 8, 1}, boolean, "bool"},
      {{kDLFloat8_e4m3fn, 8, 1}, f8e4m3, "float8_e4m3fn"},
      {{kDLFloat8_e5m2, 8, 1}, f8e5m2, "float8_e5m2"},
      {{kDLUInt, 8, 24}, opaque(24), "uint8 x24"},
  };
  for (const TypeCase& c : cases) {
    EXPECT_EQ(dtype_from_dlpack(c.dlpack, kArgument), c.type) << c.name;
    EXPECT_TRUE(same_type(dtype_to_dlpack(c.type), c.dlpack)) << c.name;
    EXPECT_EQ(to_string(c.dlpack), c.name);
  }
}

// Only copied, so their size is all that counts.
TEST(Dlpack, TypesThatAreOpaque) {
  const TypeCase cases[] = {
      {{kDLFloat8_e3m4, 8, 1}, opaque(1), "float8_e3m4"},
      {{kDLFloat8_e4m3, 8, 1}, opaque(1), "float8_e4m3"},
      {{kDLFloat8_e4m3b11fnuz, 8, 1}, opaque(1), "float8_e4m3b11fnuz"},
      {{kDLFloat8_e4m3fnuz, 8, 1}, opaque(1), "float8_e4m3fnuz"},
      {{kDLFloat8_e5m2fnuz, 8, 1}, opaque(1), "float8_e5m2fnuz"},
      {{kDLFloat8_e8m0fnu, 8, 1}, opaque(1), "float8_e8m0fnu"},
      {{kDLComplex, 32, 1}, opaque(4), "complex32"},
      {{kDLFloat, 32, 4}, opaque(16), "float32 x4"},
      {{kDLInt, 4, 2}, opaque(1), "int4 x2"},
      {{kDLFloat4_e2m1fn, 4, 2}, opaque(1), "float4_e2m1fn x2"},
      {{kDLFloat6_e2m3fn, 6, 4}, opaque(3), "float6_e2m3fn x4"},
      {{kDLBool, 8, 64}, opaque(64), "bool x64"},
  };
  for (const TypeCase& c : cases) {
    EXPECT_EQ(dtype_from_dlpack(c.dlpack, kArgument), c.type) << c.name;
    EXPECT_EQ(to_string(c.dlpack), c.name);
  }
}

TEST(Dlpack, TypesThatAreRefused) {
  const auto expect_refused = [](DLDataType type, const char* text) {
    Values<float> values({1}, {1});
    values.tensor.dtype = type;
    EXPECT_THAT(refusal(values.tensor), HasSubstr("gather: unsupported element type\n  data: "));
    EXPECT_THAT(refusal(values.tensor), HasSubstr(text));
  };
  expect_refused({kDLOpaqueHandle, 64, 1}, "DLPack type code 3 is a handle");
  expect_refused({kDLOpaqueHandle, 8, 8}, "DLPack type code 3 is a handle");
  expect_refused({18, 8, 1}, "DLPack type code 18 is unknown");
  expect_refused({255, 8, 8}, "DLPack type code 255 is unknown");
  expect_refused({kDLInt, 4, 1}, "elements of 1 x 4 bits of DLPack type code 0");
  expect_refused({kDLInt, 128, 1}, "1 x 128 bits");
  expect_refused({kDLInt, 0, 1}, "1 x 0 bits");
  expect_refused({kDLInt, 32, 0}, "0 x 32 bits");
  expect_refused({kDLInt, 0, 2}, "2 x 0 bits");
  expect_refused({kDLFloat, 80, 1}, "1 x 80 bits");
  expect_refused({kDLComplex, 16, 1}, "1 x 16 bits of DLPack type code 5");
  expect_refused({kDLBool, 1, 1}, "bool of 1 bits");
  expect_refused({kDLFloat8_e4m3fn, 16, 1}, "float8_e4m3fn of 16 bits");
  expect_refused({kDLFloat4_e2m1fn, 4, 1}, "float4_e2m1fn");
  expect_refused({kDLFloat4_e2m1fn, 4, 3}, "3 x 4 bits");
  expect_refused({kDLUInt, 8, 65}, "65 x 8 bits");
  expect_refused({kDLUInt, 255, 65535}, "65535 x 255 bits");
}

TEST(Dlpack, Strides) {
  Values<float> values({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(spec_from_dlpack(values.tensor, kArgument), TensorSpec(f32, {2, 3}));
  Values<float> transposed({1, 2, 3, 4, 5, 6}, {3, 2}, {1, 3});
  EXPECT_EQ(spec_from_dlpack(transposed.tensor, kArgument), TensorSpec(f32, {3, 2}, {1, 3}));
  Values<float> backwards({1, 2, 3, 4, 5, 6}, {3, 2}, {-2, 0});
  EXPECT_EQ(spec_from_dlpack(backwards.tensor, kArgument), TensorSpec(f32, {3, 2}, {-2, 0}));
}

// Producers write anything where there is one entry or none; the same tensor has one spec.
TEST(Dlpack, StridesThatAreNeverUsed) {
  Values<float> one({1, 2, 3}, {1, 3, 1}, {-7, 1, 1000});
  EXPECT_EQ(spec_from_dlpack(one.tensor, kArgument), TensorSpec(f32, {1, 3, 1}));
  Values<float> none({}, {0, 1}, {INT64_MAX, INT64_MIN});
  EXPECT_EQ(spec_from_dlpack(none.tensor, kArgument), TensorSpec(f32, {0, 1}));
}

// Hostile sizes pass through with strides that overflow nowhere.
TEST(Dlpack, SizesAreLeftToThePlan) {
  Values<float> values({1}, {-1, INT64_MAX, 2});
  EXPECT_EQ(spec_from_dlpack(values.tensor, kArgument).sizes, (Dims{-1, INT64_MAX, 2}));
  values.shape = {INT64_MIN, 5, -3};
  values.tensor.shape = values.shape.data();
  EXPECT_EQ(spec_from_dlpack(values.tensor, kArgument).sizes, (Dims{INT64_MIN, 5, -3}));
}

}  // namespace
}  // namespace sheaf::capi_tests

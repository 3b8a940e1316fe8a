// SPDX-License-Identifier: MIT
#include "jax/reading.h"

#include <complex>
#include <span>

#include "plan/refuse.h"
#include "sheaf/error.h"

namespace sheaf::python {
namespace {

namespace ffi = xla::ffi;

struct TypePair {
  ffi::DataType theirs;
  DType ours;
};
constexpr TypePair kTypes[] = {
    {ffi::PRED, boolean},  {ffi::S8, i8},   {ffi::S16, i16},   {ffi::S32, i32},
    {ffi::S64, i64},       {ffi::U8, u8},   {ffi::U16, u16},   {ffi::U32, u32},
    {ffi::U64, u64},       {ffi::F16, f16}, {ffi::BF16, bf16}, {ffi::F32, f32},
    {ffi::F64, f64},       {ffi::C64, c64}, {ffi::C128, c128}, {ffi::F8E4M3FN, f8e4m3},
    {ffi::F8E5M2, f8e5m2},
};

DType dtype_of(ffi::DataType type) {
  for (const TypePair& known : kTypes) {
    if (known.theirs == type) {
      return known.ours;
    }
  }
  refuse_call("unsupported element type", cat("XLA's type number ", static_cast<int>(type)),
              "an integer, float or complex type");
}

}  // namespace

void refuse_call(std::string_view what, std::string_view detail, std::string_view next) {
  throw Error(ErrorCode::kInvalidArgument,
              sheaf::refusal_text(cat("jax: ", what), detail, "", next));
}

TensorSpec spec_of(const ffi::AnyBuffer& buffer) {
  const auto sizes = buffer.dimensions();
  return {dtype_of(buffer.element_type()), Dims(std::span(sizes.begin(), sizes.size()))};
}

Scalar number_of(const ffi::Dictionary& attributes, const std::string& name, DType type) {
  const auto integer = attribute<int64_t>(attributes, (name + "_integer").c_str());
  const auto real = attribute<double>(attributes, (name + "_real").c_str());
  const auto imaginary = attribute<double>(attributes, (name + "_imaginary").c_str());
  if (type == u64) {
    return Scalar(static_cast<uint64_t>(integer));
  }
  if (type == boolean || type.is_integer()) {
    return Scalar(integer);
  }
  return type == c64 || type == c128 ? Scalar(std::complex<double>(real, imaginary)) : Scalar(real);
}

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
#include "jax/attributes.h"

#include <complex>
#include <initializer_list>
#include <string>
#include <string_view>

#include "plan/refuse.h"
#include "sheaf/error.h"
#include "support/text.h"

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

[[noreturn]] void refuse_call(std::string_view what, std::string_view detail,
                              std::string_view next) {
  throw Error(ErrorCode::kInvalidArgument,
              sheaf::refusal_text(cat("jax: ", what), detail, "", next));
}

DType dtype_of(ffi::DataType type) {
  for (const TypePair& known : kTypes) {
    if (known.theirs == type) {
      return known.ours;
    }
  }
  refuse_call("unsupported element type", cat("XLA's type number ", static_cast<int>(type)),
              "an integer, float or complex type");
}

TensorSpec spec_of(const ffi::AnyBuffer& buffer) {
  const auto sizes = buffer.dimensions();
  return {dtype_of(buffer.element_type()), Dims(std::span(sizes.begin(), sizes.size()))};
}

template <class T>
T attribute(const ffi::Dictionary& attributes, const char* name) {
  const ffi::ErrorOr<T> value = attributes.get<T>(name);
  if (!value.has_value()) {
    refuse_call("attribute missing or of another type", cat("attribute ", name),
                "the functions of sheaf.jax, which pass all of them");
  }
  return *value;
}

// The value whose name the attribute holds.
template <class Value>
Value named(const ffi::Dictionary& attributes, const char* name,
            std::initializer_list<Value> values) {
  const auto given = attribute<std::string_view>(attributes, name);
  std::string known;
  for (const Value value : values) {
    if (given == to_string(value)) {
      return value;
    }
    known += cat(known.empty() ? "" : ", ", to_string(value));
  }
  refuse_call(cat("unknown ", name), cat(name, " = \"", given, "\""), known);
}

Op op_of(const ffi::Dictionary& attributes, bool scatters) {
  return scatters ? named(attributes, "op", {Op::kScatter, Op::kScatterElements, Op::kScatterNd})
                  : named(attributes, "op", {Op::kGather, Op::kGatherElements, Op::kGatherNd});
}

// In the kind of number that the type of data has: no other is read.
Scalar fill_of(const ffi::Dictionary& attributes, DType type) {
  const auto integer = attribute<int64_t>(attributes, "fill_integer");
  const auto real = attribute<double>(attributes, "fill_real");
  const auto imaginary = attribute<double>(attributes, "fill_imaginary");
  if (type == u64) {
    return Scalar(static_cast<uint64_t>(integer));
  }
  if (type == boolean || type.is_integer()) {
    return Scalar(integer);
  }
  return type == c64 || type == c128 ? Scalar(std::complex<double>(real, imaginary)) : Scalar(real);
}

IndexRule rule_of(const CustomCall& call, DType type) {
  const bool scatters = call.updates != nullptr;
  const OutOfRange gentle = scatters ? OutOfRange::kSkip : OutOfRange::kFill;
  IndexRule rule;
  rule.negative = named(call.attributes, "negative", {Negative::kFromEnd, Negative::kOutOfRange});
  rule.out_of_range =
      named(call.attributes, "out_of_range",
            {OutOfRange::kFail, OutOfRange::kClamp, gentle, OutOfRange::kWrap, OutOfRange::kTrust});
  if (rule.out_of_range == OutOfRange::kFill) {
    rule.fill_value = fill_of(call.attributes, type);
  }
  if (rule.out_of_range == OutOfRange::kFail && call.on_device) {
    rule.out_of_range = gentle;
  }
  return rule;
}

}  // namespace

Request request_of(const CustomCall& call) {
  const bool scatters = call.updates != nullptr;
  const auto flag = attribute<int64_t>(call.attributes, "flag") != 0;
  Request r;
  r.op = op_of(call.attributes, scatters);
  r.name = to_string(r.op);
  r.data = spec_of(call.data);
  r.indices = spec_of(call.indices);
  r.output = spec_of(call.output);
  r.output_given = true;
  r.axis = attribute<int64_t>(call.attributes, "axis");
  r.batch_dims = attribute<int64_t>(call.attributes, "batch_dims");
  r.broadcast = !scatters && flag;
  r.rule = rule_of(call, r.data.dtype);
  if (scatters) {
    r.updates = spec_of(*call.updates);
    r.include_self = flag;
    r.reduction = named(call.attributes, "reduction",
                        {Reduction::kNone, Reduction::kAdd, Reduction::kSub, Reduction::kMul,
                         Reduction::kMin, Reduction::kMax, Reduction::kMean});
  }
  return r;
}

}  // namespace sheaf::python

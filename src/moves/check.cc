// SPDX-License-Identifier: MIT
#include "moves/check.h"

#include <algorithm>
#include <utility>

#include "moves/convert.h"
#include "plan/byte_ranges.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::moves {

std::string described(std::initializer_list<Named> tensors) {
  std::string text;
  for (const Named& tensor : tensors) {
    text += cat(text.empty() ? "" : "   ", tensor.name, " ", tensor.spec.str());
  }
  return text;
}

void check_tensor(const char* who, const char* name, const TensorSpec& spec) {
  const std::string given = described({{name, spec}});
  if (!spec.dtype.is_known()) {
    refuse({who, "unknown element type",
            cat(name, " has elements of kind ", static_cast<int>(spec.dtype.kind())), given,
            "one of the named types, or opaque elements of 1 to 64 bytes"});
  }
  if (spec.strides.size() != spec.sizes.size()) {
    refuse({who, "strides do not match sizes",
            cat(name, " has ", spec.sizes.size(), " sizes but ", spec.strides.size(), " strides"),
            given, "give one stride, in elements, for each dimension"});
  }
  int64_t product = 1;  // a size of 0 does not hide the others
  for (const int64_t size : spec.sizes) {
    if (size < 0) {
      refuse({who, "negative size", cat(name, " has size ", size, ", but sizes are 0 or more"),
              given, "check how the shape was computed"});
    }
    if (__builtin_mul_overflow(product, std::max<int64_t>(1, size), &product)) {
      refuse({who, "tensor too large",
              cat("the sizes of ", name, " multiply to more than 2^63 - 1"), given,
              "check how the shape was computed"});
    }
  }
  if (!byte_range(spec)) {
    refuse({who, "tensor too large",
            cat("the strides of ", name, " reach further than 2^63 - 1 bytes"), given,
            "check the strides; they are in elements, not in bytes"});
  }
}

void check_tensors(const char* who, std::initializer_list<Named> tensors) {
  for (const Named& tensor : tensors) {
    check_tensor(who, tensor.name, tensor.spec);
  }
}

void check_numbers(const char* who, const TensorSpec& spec) {
  if (!is_number(spec.dtype)) {
    refuse({who, "not a number", cat(spec.dtype.name(), " has no value to convert"), spec.str(),
            "an integer, a float or a bool"});
  }
}

void check_written(const char* who, const TensorSpec& to) {
  if (!elements_disjoint(to)) {
    refuse({who, "output overlaps itself",
            cat("strides ", bracketed(to.strides), " place several elements in one spot"), to.str(),
            "an output whose strides keep its elements apart"});
  }
}

void check_same_sizes(const char* who, const TensorSpec& from, const TensorSpec& to) {
  if (from.sizes != to.sizes) {
    refuse({who, "shapes differ",
            cat("from is ", bracketed(from.sizes), ", but to is ", bracketed(to.sizes)),
            described({{"from", from}, {"to", to}}), "equal shapes"});
  }
}

void check_types(const char* who, const TensorSpec& from, const TensorSpec& to) {
  if (from.dtype != to.dtype) {
    refuse({who, "types differ",
            cat("from is ", from.dtype.name(), ", but to is ", to.dtype.name()),
            described({{"from", from}, {"to", to}}), "cast, which converts"});
  }
}

void check_axis(const char* who, const TensorSpec& whole, int64_t axis) {
  if (axis < 0 || axis >= whole.rank()) {
    refuse({who, "axis out of range",
            cat("axis = ", axis, ", but there are ", whole.rank(), " dimensions"), whole.str(),
            cat("an axis from 0 to ", whole.rank() - 1)});
  }
}

void check_reduced(const char* who, const char* name, const TensorSpec& spec,
                   const TensorSpec& whole, int64_t axis) {
  check_axis(who, whole, axis);
  Dims sizes = whole.sizes;
  sizes[static_cast<int>(axis)] = 1;
  if (spec.sizes != sizes || !spec.dtype.is_integer()) {
    refuse(
        {who, cat(name, " does not fit"),
         cat(name, " is ", spec.str(), ", but integers of shape ", bracketed(sizes), " are needed"),
         whole.str(), cat(name, " of size 1 along the axis")});
  }
}

void check_holds(const char* who, const char* what, DType type, int64_t largest,
                 const std::string& given, const char* next) {
  const int64_t value_bits = 8 * type.bytes() - (type.is_signed_integer() ? 1 : 0);
  if (value_bits < 63 && largest >= int64_t{1} << value_bits) {
    refuse(
        {who, cat(what, " too narrow"), cat(type.name(), " does not hold ", largest), given, next});
  }
}

namespace {

void check_pointer(const char* who, const Named& tensor, const void* pointer) {
  const ByteRange range = *byte_range(tensor.spec);
  const std::string given = described({tensor});
  if (pointer == nullptr && !range.empty()) {
    refuse({who, "null pointer", cat(tensor.name, " has elements, but its pointer is null"), given,
            "pass the tensor's memory"});
  }
  const auto address = reinterpret_cast<intptr_t>(pointer);
  if (!checked_add(address, range.lo) || !checked_add(address, range.hi)) {
    refuse({who, "tensor too large",
            cat("the strides of ", tensor.name, " lead from its pointer out of the address space"),
            given, "check the strides; they are in elements, not in bytes"});
  }
}

void check_apart(const char* who, const Named& output, const void* written, const Named& other,
                 const void* memory) {
  if (may_overlap({written, output.spec}, {memory, other.spec})) {
    refuse({who, "output overlaps another tensor",
            cat(output.name, " and ", other.name, " share memory"), described({output, other}),
            "memory of its own for each output"});
  }
}

}  // namespace

Work checked(const char* who, std::vector<Named> inputs, std::vector<Named> outputs, Work work,
             InPlace in_place) {
  const bool only_plans = work.only_plans;
  auto check = [who, in_place, inputs = std::move(inputs), outputs = std::move(outputs)](
                   std::span<const void* const> in, std::span<void* const> out) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_pointer(who, inputs[i], in[i]);
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      check_pointer(who, outputs[o], out[o]);
      for (size_t i = 0; i < inputs.size(); ++i) {
        const bool same = in[i] == out[o] && inputs[i].spec == outputs[o].spec;
        if (!same || in_place == InPlace::kRefused) {
          check_apart(who, outputs[o], out[o], inputs[i], in[i]);
        }
      }
      for (size_t before = 0; before < o; ++before) {
        check_apart(who, outputs[o], out[o], outputs[before], out[before]);
      }
    }
  };
  return {
      [check = std::move(check), run = std::move(work.run)](auto in, auto out, const Queue& queue) {
        check(in, out);
        run(in, out, queue);
      },
      only_plans};
}

}  // namespace sheaf::moves

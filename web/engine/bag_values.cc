// SPDX-License-Identifier: MIT
//
// A bag with values. Problem strings have none for encoded tables: their bytes are made up, with
// scales of one half.
#include <cstring>

#include "answers.h"
#include "pictures/bag_picture.h"
#include "pictures/scene.h"
#include "plan/encoded_rows.h"
#include "plan/scalar.h"

namespace sheaf::web {
namespace {

constexpr uint16_t kHalfF16 = 0x3800, kMinusOneF16 = 0xBC00;

void put_u16(std::byte* at, uint16_t bits) {
  at[0] = static_cast<std::byte>(bits & 255);
  at[1] = static_cast<std::byte>(bits >> 8);
}

void put_f32(std::byte* at, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  put_u16(at, static_cast<uint16_t>(bits & 0xFFFF));
  put_u16(at + 2, static_cast<uint16_t>(bits >> 16));
}

// Scale one half and bias -1 into a row that holds its own.
void put_row_scale(Encoding encoding, std::byte* row, int64_t bytes) {
  if (encoding == Encoding::kRowU8F32) {
    put_f32(row + bytes - 8, 0.5F);
    put_f32(row + bytes - 4, -1);
    return;
  }
  std::byte* const at = encoding == Encoding::kRowU8F16Front ? row : row + bytes - 4;
  put_u16(at, kHalfF16);
  put_u16(at + 2, kMinusOneF16);
}

void put_block_scales(Encoding encoding, std::byte* row, int64_t bytes) {
  const int64_t block = block_shape(encoding).bytes;
  const bool two = encoding == Encoding::kQ4_1 || encoding == Encoding::kQ5_1 ||
                   encoding == Encoding::kQ4K || encoding == Encoding::kQ5K;
  for (int64_t at = 0; at < bytes; at += block) {
    put_u16(row + at + (encoding == Encoding::kQ6K ? 208 : 0), kHalfF16);
    if (two) {
      put_u16(row + at + 2, kHalfF16);
    }
  }
}

Literal made_up_rows(const EncodedSpec& data) {
  if (data.encoding == Encoding::kPlain) {
    return counting(data.stored, 0, 1);
  }
  Literal bytes(static_cast<size_t>(element_count(data.stored.sizes)));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i % 100);
  }
  const int64_t row_bytes = bytes.empty() ? 1 : data.stored.sizes.back();
  for (int64_t at = 0; at < std::ssize(bytes); at += row_bytes) {
    if (has_scale_in_row(data.encoding)) {
      put_row_scale(data.encoding, bytes.data() + at, row_bytes);
    } else if (has_blocks(data.encoding)) {
      put_block_scales(data.encoding, bytes.data() + at, row_bytes);
    }
  }
  return bytes;
}

// One half throughout; as an exponent, too.
Literal made_up_scales(const std::optional<TensorSpec>& spec) {
  if (!spec) {
    return {};
  }
  if (spec->dtype == u8) {
    return Literal(static_cast<size_t>(element_count(spec->sizes)), std::byte{126});
  }
  const auto bytes = static_cast<size_t>(spec->dtype.bytes());
  Literal values(static_cast<size_t>(element_count(spec->sizes)) * bytes);
  for (size_t at = 0; at < values.size(); at += bytes) {
    encode(Scalar(0.5), spec->dtype, values.data() + at);
  }
  return values;
}

Literal bytes_of(const TensorSpec& spec, const void* from) {
  const auto* const first = static_cast<const std::byte*>(from);
  return {first, first + element_count(spec.sizes) * spec.dtype.bytes()};
}

const void* pointer(const Literal& values, bool there) { return there ? values.data() : nullptr; }

// Indices and segments in range, as the library's picture makes them up.
void make_up_entries_of(BagCall& call) {
  const BagSpecs& specs = call.plan.request().specs;
  BagMemory memory;
  memory.indices = call.text.indices ? call.text.indices->data() : nullptr;
  memory.segments = call.text.segments ? call.text.segments->data() : nullptr;
  std::vector<pictures::Zeros> made;
  call.drawn = pictures::make_up_entries(call.plan, memory, made);
  if (call.drawn && specs.indices) {
    call.indices = bytes_of(*specs.indices, memory.indices);
  }
  if (call.drawn && specs.segments) {
    call.segments = bytes_of(*specs.segments, memory.segments);
  }
}

}  // namespace

BagMemory BagCall::memory() const {
  const BagSpecs& specs = plan.request().specs;
  return {.stored = data.data(),
          .scales = pointer(scales, specs.data.scales.has_value()),
          .zeros = pointer(zeros, specs.data.zeros.has_value()),
          .indices = pointer(indices, specs.indices.has_value()),
          .segments = pointer(segments, specs.segments.has_value()),
          .weights = pointer(weights, specs.weights.has_value())};
}

BagCall read_bag(std::string_view problem) {
  BagText text = parse_bag(problem);
  BagPlan plan = make_bag_plan(text.request);
  BagCall call{std::move(text), std::move(plan), false, {}, {}, {}, {}, {}, {}};
  const BagSpecs& specs = call.plan.request().specs;
  if (!is_drawn(specs.data.stored) || element_count(specs.data.sizes) > kMostDrawn ||
      call.plan.nest().entries > kMostDrawn || !is_drawn(call.plan.output())) {
    return call;
  }
  make_up_entries_of(call);
  if (!call.drawn) {
    return call;
  }
  call.data = call.text.data ? *call.text.data : made_up_rows(specs.data);
  call.scales = made_up_scales(specs.data.scales);
  call.zeros = specs.data.zeros ? counting(*specs.data.zeros, 1, 0) : Literal();
  if (specs.weights) {
    call.weights = call.text.weights ? *call.text.weights : counting(*specs.weights, 1, 1);
  }
  return call;
}

Literal run_bag(const BagCall& call) {
  const TensorSpec& spec = call.plan.output();
  Literal output(static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes()));
  BagMemory memory = call.memory();
  memory.output = output.data();
  call.plan.run(memory);
  return output;
}

}  // namespace sheaf::web

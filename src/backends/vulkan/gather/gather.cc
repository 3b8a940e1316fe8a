// SPDX-License-Identifier: MIT
#include "backends/vulkan/gather/gather.h"

#include <algorithm>
#include <bit>

#include "backends/vulkan/dispatch.h"
#include "plan/nest_shape.h"
#include "support/checked.h"
#include "support/divisor.h"

namespace sheaf::vulkan {
namespace {

constexpr int64_t kWord = 4;

// Tensors that repeat their elements (strides of 0) can ask for any number of pieces, each of which
// is work: more than this is a mistake, and a run of days.
constexpr int64_t kMostPieces = int64_t{1} << 42;

const char* size_refusal(const Nest& nest) {
  return saturating_mul(point_count(nest), nest.row_bytes) <= kMostPieces
             ? nullptr
             : "more bytes than a run can have";
}

// By units of 1, 2, 4, 8 or 16 bytes.
void move_units(const Nest& nest, ShaderCall call, int64_t bytes, const Launch& launch) {
  const bool words = bytes >= kWord;
  Recording recording(recorder_of(launch.stream));
  const Pipeline& pipeline =
      words ? pipeline_of(recording.device(), Shader::gather_words, bytes / kWord)
            : pipeline_of(recording.device(), Shader::gather_units, bytes);
  call.nest = recording.put(shader_nest(nest));
  dispatch_pieces(recording, pipeline, recording.put(call),
                  {point_count(nest), nest.row_bytes / bytes, words ? tuning::kInFlight : 1});
}

}  // namespace

bool rows_in_line(const Nest& nest) {
  int64_t step = nest.row_bytes;
  for (int l = nest.loops.size() - 1; l >= 0; --l) {
    if (nest.loops[l].output != step) {
      return false;
    }
    step *= nest.loops[l].extent;
  }
  return true;
}

ShaderCall gather_call(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  ShaderCall call = shader_call(launch);
  call.data = address_of(buffers.data);
  call.indices = address_of(buffers.indices);
  call.grid = address_of(buffers.output);
  call.row_bytes = nest.row_bytes;
  set_fill(call, nest.fill_value, nest.element_bytes);
  return call;
}

int64_t unit_bytes(const Nest& nest, uintptr_t addresses) {
  uint64_t bits = uint64_t{addresses} | static_cast<uint64_t>(nest.row_bytes) | 16;
  for (const Loop& loop : nest.loops) {
    bits |= static_cast<uint64_t>(loop.data) | static_cast<uint64_t>(loop.output);
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    bits |= static_cast<uint64_t>(coordinate.stride);
  }
  return int64_t{1} << std::countr_zero(bits);
}

const char* rows_refusal(const KernelQuery& query) {
  if (!rows_in_line(query.nest)) {
    return "rows do not follow one another in the output";
  }
  return strided_refusal(query);
}

const char* strided_refusal(const KernelQuery& query) {
  if (unit_bytes(query.nest, query.addresses) < kWord) {
    return "rows, strides or addresses are not whole words";
  }
  return size_refusal(query.nest);
}

const char* packed_refusal(const KernelQuery& query) {
  if (!rows_in_line(query.nest)) {
    return "rows do not follow one another in the output";
  }
  return size_refusal(query.nest);
}

const char* units_refusal(const KernelQuery& query) { return size_refusal(query.nest); }

bool run_words(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  const uint64_t addresses = address_of(buffers.data) | address_of(buffers.output);
  move_units(nest, gather_call(nest, buffers, launch), unit_bytes(nest, addresses), launch);
  return true;
}

bool run_units(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  const uint64_t addresses = address_of(buffers.data) | address_of(buffers.output);
  const int64_t bytes = std::min<int64_t>(unit_bytes(nest, addresses), 2);
  move_units(nest, gather_call(nest, buffers, launch), bytes, launch);
  return true;
}

bool run_packed(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  ShaderCall call = gather_call(nest, buffers, launch);
  const int64_t bytes = point_count(nest) * nest.row_bytes;
  call.self = bytes;
  Recording recording(recorder_of(launch.stream));
  call.nest = recording.put(shader_nest(nest));
  Push push{};
  push.call = recording.put(call);
  if (bytes <= tuning::most_pieces) {
    set_columns(push, nest.row_bytes);
  }
  const auto head = static_cast<int64_t>(call.grid % kWord);
  const int64_t words = (head + bytes - 1) / kWord + 1;
  for (int64_t word = 0; word < words; word += tuning::most_pieces) {
    const int64_t count = std::min(tuning::most_pieces, words - word);
    push.first_row = word;
    push.count = static_cast<uint32_t>(count);
    recording.dispatch(pipeline_of(recording.device(), Shader::gather_packed), push,
                       groups_of(count, 1));
  }
  return true;
}

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  Nest plain = nest;
  std::fill(std::begin(plain.fill_value), std::end(plain.fill_value), std::byte{0});
  ShaderCall call = gather_call(plain, {data, nullptr, output}, launch);
  call.flags |= data == nullptr ? kFillAll : 0;
  move_units(plain, call, unit_bytes(nest, address_of(data) | address_of(output)), launch);
}

void zero(void* memory, size_t bytes, void* stream) {
  Nest row;
  row.row_bytes = static_cast<int64_t>(bytes);
  row.element_bytes = 1;
  Launch launch;
  launch.stream = stream;
  copy(row, nullptr, static_cast<std::byte*>(memory), launch);
}

}  // namespace sheaf::vulkan

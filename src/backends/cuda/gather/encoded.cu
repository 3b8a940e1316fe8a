// SPDX-License-Identifier: MIT
//
// cuda.encoded: gathers of encoded tables, one thread per element of the output. Neighbours read
// neighbouring codes and the same scale, so that what is read twice comes from L1.
#include <cstring>

#include "backends/cuda/gather/gather.h"
#include "backends/cuda/kernel/narrow.cuh"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

// The nest counts elements, as EncodedNest has it.
struct EncodedArgs {
  AnyNest nest;
  EncodedRows rows;
  EncodedMemory data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* check;  // of a check that ran before; null: there was none
  Verdict* report;       // where bad indices that are met are reported; may be null
  int64_t elements;      // of the output
  WideDivisor run;       // elements that follow one another in both tensors
  WideDivisor row;       // elements of a row of the table
  Kind type;             // of the output
  uint32_t fill;         // bits of one element of it
};

__device__ uint32_t narrowed_bits(Kind type, float value) {
  switch (type) {
    case Kind::kFloat16: return narrow_f16(value).bits;
    case Kind::kBFloat16: return narrow_bf16(value).bits;
    default: return __float_as_uint(value);
  }
}

__device__ void store_bits(const EncodedArgs& args, int64_t element, uint32_t bits) {
  if (args.type == Kind::kFloat32) {
    reinterpret_cast<uint32_t*>(args.output)[element] = bits;
  } else {
    reinterpret_cast<uint16_t*>(args.output)[element] = static_cast<uint16_t>(bits);
  }
}

template <Encoding kEncoding>
__device__ void move_element(const EncodedArgs& args, int64_t element) {
  const auto point = static_cast<int64_t>(args.run.quotient(static_cast<uint64_t>(element)));
  const int64_t column = element - point * static_cast<int64_t>(args.run.divisor);
  const Place place = locate(args.nest, point);
  const int64_t at = target_of(args.nest, args.indices, point, place);
  if (at == kNowhere) {
    if (args.report != nullptr) {
      args.report->met = 1;
    }
    store_bits(args, place.output + column, args.fill);
    return;
  }
  const int64_t number = at + column;
  const auto row = static_cast<int64_t>(args.row.quotient(static_cast<uint64_t>(number)));
  const float value = decoded<kEncoding>(args.rows, args.data, row,
                                         number - row * static_cast<int64_t>(args.row.divisor));
  store_bits(args, place.output + column, narrowed_bits(args.type, value));
}

template <Encoding kEncoding>
__global__ void __launch_bounds__(kBlockThreads)
    encoded_kernel(const __grid_constant__ EncodedArgs args) {
  if (refused(args.check)) {
    return;
  }
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t element = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; element < args.elements;
       element += step) {
    move_element<kEncoding>(args, element);
  }
}

EncodedArgs encoded_args(const EncodedNest& nest, const EncodedBuffers& buffers,
                         const Launch& launch) {
  EncodedArgs args{};
  args.nest = device_nest<AnyNest>(nest.nest);
  args.rows = nest.rows;
  args.data = buffers.data;
  args.indices = buffers.indices;
  args.output = buffers.output;
  args.check = launch.check_while_moving ? nullptr : launch.verdict;
  args.report = launch.verdict;
  args.elements = point_count(nest.nest) * nest.nest.row_bytes;
  args.run = WideDivisor(static_cast<uint64_t>(nest.nest.row_bytes));
  args.row = WideDivisor(static_cast<uint64_t>(nest.rows.elements));
  args.type = nest.type.kind();
  std::memcpy(&args.fill, nest.fill_value, static_cast<size_t>(nest.type.bytes()));
  return args;
}

}  // namespace

const char* encoded_refusal(const EncodedNest& /*nest*/) { return nullptr; }

bool run_encoded(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch) {
  const EncodedArgs args = encoded_args(nest, buffers, launch);
  const unsigned blocks = blocks_at_most(args.elements, kBlockThreads);
  with_encoding(nest.rows.encoding, [&]<Encoding kEncoding>() {
    encoded_kernel<kEncoding>
        <<<blocks, kBlockThreads, 0, static_cast<Stream>(launch.stream)>>>(args);
  });
  return true;
}

}  // namespace sheaf::cuda

// SPDX-License-Identifier: MIT
//
// Which bags go to which kernel.
#include "backends/cuda/bag/elements.cuh"
#include "backends/cuda/bag/rows.cuh"

namespace sheaf::cuda {
namespace {

// What the rows of a nest stand at multiples of, and how many of their elements one thread takes.
struct RowWords {
  int64_t bytes = 0;  // 0: no words
  int64_t elements = 0;
};

RowWords words_of(const BagNest& nest) {
  switch (nest.rows.encoding) {
    case Encoding::kPlain: break;
    case Encoding::kRowU8F32: return {8, 8};
    case Encoding::kRowU8F16Front: return {4, 4};
    case Encoding::kRowU4F16: return {4, 8};
    default: return {};
  }
  switch (nest.rows.type.kind()) {
    case Kind::kFloat32: return {16, 4};
    case Kind::kFloat16:
    case Kind::kBFloat16: return {16, 8};
    default: return {};
  }
}

// Bytes that a thread writes at a time.
int64_t output_word(const BagNest& nest) {
  return std::min<int64_t>(16, words_of(nest).elements * nest.output_type.bytes());
}

bool stands_at_words(const BagNest& nest, const BagBuffers& buffers) {
  const auto is_at = [](const void* memory, int64_t bytes) {
    return reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(bytes) == 0;
  };
  return is_at(buffers.data.stored, words_of(nest).bytes) &&
         is_at(buffers.output, output_word(nest));
}

// Whether a launch can have a thread for each element of each bag; up to half of them are idle.
bool fits(const BagNest& nest) {
  const int64_t chunks = (nest.elements - 1) / 8 + 1;  // groups have 8 threads or more, or all
  return nest.bags <= INT64_MAX / 16 / chunks && fits_launch(nest.bags * chunks * 16, kPoolThreads);
}

}  // namespace

const char* bag_rows_refusal(const BagNest& nest) {
  const RowWords words = words_of(nest);
  if (words.bytes == 0 || nest.computed != f32) {
    return "rows are not of a type that is read by whole words";
  }
  const bool plain = nest.rows.encoding == Encoding::kPlain;
  if (nest.elements % words.elements != 0 || nest.rows.row_stride % words.bytes != 0 ||
      nest.rows_per_entry != 1 || (plain && nest.rows.element_stride != nest.rows.type.bytes())) {
    return "rows are no whole words";
  }
  if ((nest.output_type != f32 && nest.output_type != f16 && nest.output_type != bf16) ||
      nest.element_stride != nest.output_type.bytes() || nest.bag_stride % output_word(nest) != 0) {
    return "rows of the output are no whole words";
  }
  return bag_elements_refusal(nest);
}

const char* bag_elements_refusal(const BagNest& nest) {
  return nest.has_output() && !fits(nest) ? "more bags than one launch can have" : nullptr;
}

BagEnd run_bag_rows(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  if (!stands_at_words(nest, buffers)) {
    return run_bag_elements(nest, buffers, launch);
  }
  const BagCall call{nest, buffers, launch};
  switch (reduction_of(nest.pool)) {
    case Reduction::kMax: pool_rows_max(call); break;
    case Reduction::kMin: pool_rows_min(call); break;
    case Reduction::kMul: pool_rows_mul(call); break;
    default: (nest.pool == Pool::kSum ? pool_rows_add : pool_rows_mean)(call); break;
  }
  return BagEnd::kDone;
}

BagEnd run_bag_elements(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  const BagCall call{nest, buffers, launch};
  switch (reduction_of(nest.pool)) {
    case Reduction::kMax: pool_elements_max(call); break;
    case Reduction::kMin: pool_elements_min(call); break;
    case Reduction::kMul: pool_elements_mul(call); break;
    default: pool_elements_add(call); break;
  }
  return BagEnd::kDone;
}

}  // namespace sheaf::cuda

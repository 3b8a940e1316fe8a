// SPDX-License-Identifier: MIT
//
// The cuda backend: its tables of kernels, in which the first that accepts wins, and its steps.
#include "backends/cuda/bag/bag.h"
#include "backends/cuda/bag_gradient/bag_gradient.h"
#include "backends/cuda/device.h"
#include "backends/cuda/gather/gather.h"
#include "backends/cuda/moe/moe.h"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/staging.h"

namespace sheaf {

const Backend* cuda_backend();

namespace cuda {
namespace {

constexpr GatherKernel kGather[] = {
    {"cuda.lookup", lookup_refusal, run_lookup, Checks::kWhileMoving},
    {"cuda.elements", elements_refusal, run_lookup, Checks::kWhileMoving},
    {"cuda.long_rows", long_rows_refusal, run_long_rows, Checks::kWhileMoving},
    {"cuda.held_columns", held_columns_refusal, run_held_columns, Checks::kWhileMoving},
    {"cuda.columns", columns_refusal, run_columns, Checks::kWhileMoving, columns_bytes},
    {"cuda.small", small_refusal, run_small, Checks::kFirst},
    {"cuda.odd_rows", odd_rows_refusal, run_odd_rows, Checks::kWhileMoving},
    {"cuda.rows", rows_refusal, run_rows, Checks::kWhileMoving},
    {"cuda.strided", strided_refusal, run_rows, Checks::kWhileMoving},
};

constexpr ScatterKernel kScatter[] = {
    {"cuda.private", private_refusal, run_private},
    {"cuda.turned", turned_refusal, run_turned, Checks::kNever, turned_bytes},
    {"cuda.shared", shared_refusal, run_shared},
    {"cuda.atomics", atomics_refusal, run_atomics},
    {"cuda.last", last_refusal, run_last, Checks::kNever, last_bytes},
    {"cuda.chained", chained_refusal, run_chained, Checks::kNever, chained_bytes},
    {"cuda.sorted", sorted_refusal, run_sorted, Checks::kNever, sorted_bytes},
};

constexpr BagKernel kBag[] = {
    {"cuda.bag_rows", bag_rows_refusal, run_bag_rows, Checks::kWhileMoving, bag_bytes},
    {"cuda.bag_elements", bag_elements_refusal, run_bag_elements, Checks::kWhileMoving, bag_bytes},
};

constexpr EncodedKernel kEncoded[] = {
    {"cuda.encoded", encoded_refusal, run_encoded, Checks::kWhileMoving}};

constexpr MoeSteps kMoe{moe_refusal, moe_bytes, run_moe};

constexpr BagGradientSteps kBagGradient{.refusal = gradient_refusal,
                                        .workspace_bytes = gradient_bytes,
                                        .lists = gradient_lists,
                                        .read = read_entries,
                                        .order = order_entries,
                                        .sum_picked = sum_picked,
                                        .add = add_sums,
                                        .weights = weight_gradient};

constexpr int kDlpackCuda = 2;  // kDLCUDA

// Real and imaginary parts are computed separately.
int64_t alignment(DType type) {
  return type == c64 || type == c128 ? type.bytes() / 2 : type.bytes();
}

constexpr DeviceSteps kSteps{.allocate = allocate,
                             .release = release,
                             .upload = upload,
                             .download = download,
                             .fill = fill_bytes,
                             .free_bytes = free_bytes,
                             .zero = zero,
                             .prepare = prepare,
                             .complete_verdict = complete_verdict,
                             .convert = convert,
                             .wait = wait,
                             .check_launches = check_launches,
                             .alignment = alignment,
                             .dlpack_type = kDlpackCuda,
                             .current = current_number,
                             .staging = &kStagingSteps};

constexpr Backend kBackend{.name = "cuda",
                           .gather = kGather,
                           .scatter = kScatter,
                           .device = &kSteps,
                           .available = available,
                           .describe = describe,
                           .check = check,
                           .copy = copy,
                           .fill = fill,
                           .count = count,
                           .divide = divide,
                           .bag = kBag,
                           .encoded = kEncoded,
                           .check_segments = check_segments,
                           .moe = &kMoe,
                           .bag_gradient = &kBagGradient};

}  // namespace
}  // namespace cuda

const Backend* cuda_backend() { return &cuda::kBackend; }

}  // namespace sheaf

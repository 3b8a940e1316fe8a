// SPDX-License-Identifier: MIT
//
// The vulkan backend: its tables of kernels, in which the first that accepts wins, and its steps.
#include "backends/vulkan/bag/bag.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/gather/gather.h"
#include "backends/vulkan/memory.h"
#include "backends/vulkan/scatter/scatter.h"
#include "backends/vulkan/staging.h"
#include "backends/vulkan/steps/steps.h"

namespace sheaf {

const Backend* vulkan_backend();

namespace vulkan {
namespace {

constexpr GatherKernel kGather[] = {
    {"vulkan.lines", lines_refusal, run_lines, Checks::kWhileMoving},
    {"vulkan.rows", rows_refusal, run_words, Checks::kWhileMoving},
    {"vulkan.strided", strided_refusal, run_words, Checks::kWhileMoving},
    {"vulkan.packed", packed_refusal, run_packed, Checks::kWhileMoving},
    {"vulkan.units", units_refusal, run_units, Checks::kWhileMoving},
};

constexpr ScatterKernel kScatter[] = {
    {"vulkan.marked", marked_refusal, run_marked, Checks::kNever, marked_bytes},
    {"vulkan.sorted", sorted_refusal, run_sorted, Checks::kNever, sorted_bytes},
};

constexpr BagKernel kBag[] = {
    {"vulkan.bag", bag_refusal, run_bag, Checks::kWhileMoving, bag_bytes}};

constexpr EncodedKernel kEncoded[] = {
    {"vulkan.encoded", encoded_refusal, run_encoded, Checks::kWhileMoving}};

constexpr int kDlpackVulkan = 7;  // kDLVulkan

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
                             .prepare = [](void* stream) { device_of(stream); },
                             .complete_verdict = complete_verdict,
                             .convert = convert,
                             .wait = wait,
                             .check_launches = [](const char* /*what*/) {},  // they throw at once
                             .alignment = alignment,
                             .submit = submit,
                             .read_faults = read_faults,
                             .dlpack_type = kDlpackVulkan,
                             .current = [] { return 0; },
                             .staging = &kStagingSteps};

constexpr Backend kBackend{.name = "vulkan",
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
                           .check_segments = check_segments};

}  // namespace
}  // namespace vulkan

const Backend* vulkan_backend() { return &vulkan::kBackend; }

}  // namespace sheaf

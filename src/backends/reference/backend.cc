// SPDX-License-Identifier: MIT
#include "backends/reference/backend.h"

#include "execution/host_steps.h"

namespace sheaf {
namespace reference {
namespace {

constexpr const char* kNoRefusal = nullptr;
const char* accepts_everything(const KernelQuery& /*query*/) { return nullptr; }

// The oracle checks all indices in a pass of its own, whatever is promised about the output.
constexpr GatherKernel kGather[] = {{"reference.loops", accepts_everything, gather}};
constexpr ScatterKernel kScatter[] = {{"reference.loops", accepts_everything, scatter}};
constexpr BagKernel kBag[] = {{"reference.loops", [](const BagNest&) { return kNoRefusal; }, bag}};

constexpr EncodedKernel kEncoded[] = {
    {"reference.loops", [](const EncodedNest&) { return kNoRefusal; }, gather_encoded}};

bool available() { return true; }
std::string describe() { return "plain loops on one thread"; }
constexpr Backend kBackend{.name = "reference",
                           .gather = kGather,
                           .scatter = kScatter,
                           .device = nullptr,
                           .available = available,
                           .describe = describe,
                           .check = all_in_range,
                           .copy = copy,
                           .fill = host_fill,
                           .count = host_count,
                           .divide = host_divide,
                           .bag = kBag,
                           .encoded = kEncoded};

}  // namespace
}  // namespace reference

const Backend* reference_backend() { return &reference::kBackend; }

}  // namespace sheaf

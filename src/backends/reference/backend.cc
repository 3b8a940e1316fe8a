// SPDX-License-Identifier: MIT
#include "backends/reference/backend.h"

namespace sheaf {
namespace reference {

const char* accepts_everything(const Nest& /*nest*/) { return nullptr; }

}  // namespace reference

namespace {

constexpr Kernel kGather[] = {
    {"reference.loops", reference::accepts_everything, reference::gather},
};
constexpr ScatterKernel kScatter[] = {
    {"reference.loops", reference::accepts_everything, reference::scatter},
};

}  // namespace

const Backend& reference_backend() {
  static constexpr Backend kBackend{"reference", kGather, kScatter, reference::all_in_range,
                                    reference::copy};
  return kBackend;
}

}  // namespace sheaf

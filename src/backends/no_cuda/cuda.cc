// SPDX-License-Identifier: MIT
//
// Built instead of backends/cuda where SHEAF_CUDA is off.
#include "sheaf/cuda.h"

#include "sheaf/error.h"

namespace sheaf::cuda {
namespace {

constexpr const char* kWhy = "this build of Sheaf is without CUDA";

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kUnsupported,
              std::string("cuda: not built\n  ") + kWhy +
                  "\n  try: build with -DSHEAF_CUDA=ON, which needs nvcc 13");
}

}  // namespace

bool available() { return false; }
std::string description() { return kWhy; }
size_t workspace_bytes(const Plan& /*plan*/) { refuse(); }

Workspace::Workspace(const Plan& /*plan*/) { refuse(); }
Workspace::Workspace(size_t /*bytes*/) { refuse(); }
Workspace::Workspace(Workspace&& /*other*/) noexcept = default;
Workspace& Workspace::operator=(Workspace&& /*other*/) noexcept = default;
Workspace::~Workspace() {}  // the header promises one, and is the same in every build

void run(const Plan& /*plan*/, const void* /*data*/, const void* /*indices*/, void* /*output*/,
         WorkspaceView /*workspace*/, Stream /*stream*/, const RunOptions& /*options*/) {
  refuse();
}

void run(const Plan& /*plan*/, const void* /*data*/, const void* /*indices*/,
         const void* /*updates*/, void* /*output*/, WorkspaceView /*workspace*/, Stream /*stream*/,
         const RunOptions& /*options*/) {
  refuse();
}

void check(const Plan& /*plan*/, WorkspaceView /*workspace*/, Stream /*stream*/) { refuse(); }

std::vector<KernelReport> kernels_for(const Plan& /*plan*/) { return {}; }

}  // namespace sheaf::cuda

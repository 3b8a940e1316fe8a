// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <cuda_runtime_api.h>

#include "plan/refuse.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::python::gpu {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    cudaGetLastError();  // not to be found again by the next check
    throw Error(ErrorCode::kDevice,
                refusal_text("cuda: error", cat(what, ": ", cudaGetErrorString(error)), "",
                             "compute-sanitizer, to find what went wrong"));
  }
}

// While a graph is captured, CUDA refuses calls that might disturb it. This thread vouches for its
// own: they touch nothing that the graph uses.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace

DeviceGuard::DeviceGuard(int device) {
  if (device < 0) {
    return;
  }
  int current = 0;
  check(cudaGetDevice(&current), "asking for the current device");
  if (current != device) {
    check(cudaSetDevice(device), "choosing a device");
    before_ = current;
  }
}

DeviceGuard::~DeviceGuard() {
  if (before_ >= 0) {
    cudaSetDevice(before_);
  }
}

bool capturing(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status) != cudaSuccess) {
    cudaGetLastError();  // the default stream, while another one is captured
    return false;
  }
  return status != cudaStreamCaptureStatusNone;
}

void wait_for_device() { check(cudaDeviceSynchronize(), "waiting for the device"); }

void clear(const WorkspaceView& memory) {
  const RelaxedCapture relaxed;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  const cudaError_t set = cudaMemsetAsync(memory.memory, 0, memory.bytes, stream);
  const cudaError_t done = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  check(set, "clearing a workspace");
  check(done, "clearing a workspace");
}

}  // namespace sheaf::python::gpu

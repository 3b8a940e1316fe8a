// SPDX-License-Identifier: MIT
#include "helpers/device.h"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    cudaGetLastError();  // or the next call reports this error once more
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
  }
}

}  // namespace

std::string_view test_device() { return sheaf::cuda::kDevice; }

sheaf::Queue device_queue(sheaf::WorkspaceView workspace, const DeviceStream& stream) {
  return sheaf::cuda::queue(workspace, stream);
}

void DeviceTest::SetUp() {
  if (!sheaf::cuda::available()) {
    GTEST_SKIP() << "needs a CUDA device: " << sheaf::cuda::description();
  }
}

DeviceStream::DeviceStream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  stream_ = stream;
}

DeviceStream::~DeviceStream() { cudaStreamDestroy(*this); }

void DeviceStream::wait() const { check(cudaStreamSynchronize(*this), "cudaStreamSynchronize"); }

void DeviceStream::upload(void* device, const void* host, size_t bytes) const {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, *this), "cudaMemcpyAsync");
}

void DeviceStream::download(void* host, const void* device, size_t bytes) const {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, *this), "cudaMemcpyAsync");
}

PinnedMemory::PinnedMemory(size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  memory_ = static_cast<std::byte*>(memory);
}

PinnedMemory::~PinnedMemory() { cudaFreeHost(memory_); }

DeviceGraph::DeviceGraph(const DeviceStream& stream, const std::function<void()>& record) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    record();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
}

DeviceGraph::~DeviceGraph() { cudaGraphExecDestroy(graph_); }

void DeviceGraph::launch(const DeviceStream& stream) const {
  check(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch");
}

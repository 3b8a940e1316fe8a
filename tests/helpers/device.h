// SPDX-License-Identifier: MIT
//
// The device for tests: a machine that runs plans there, and the few things of its runtime that
// tests need. device.cc has CUDA's, vulkan_device.cc Vulkan's: a program of tests links one of
// them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

#include "helpers/machine.h"
#include "sheaf/cuda.h"

struct CUgraphExec_st;  // cudaGraphExec_t points to one

// The name of the backend, and a queue of it.
std::string_view test_device();
class DeviceStream;
sheaf::Queue device_queue(sheaf::WorkspaceView workspace, const DeviceStream& stream);

// Every kernel of the backend, on the current device. The tensors of a run lie behind its
// workspace in one piece of device memory, each where it stood in its 16 bytes on the host (aligned
// to its elements where the backend asks for that), with guard bytes around it. Afterwards nothing
// but the output may have changed. The workspace holds what the run before left there.
//
// Of the exhaustive tests one filling in 13 is run, or one in SHEAF_TEST_ONE_IN. With
// SHEAF_TEST_APART=1 each tensor has an allocation of its own that ends where it ends, so that
// compute-sanitizer sees reads outside as well.
const Machine& gpu();

// Memory of the device.
class CudaMemory : public sheaf::DeviceMemory {
 public:
  explicit CudaMemory(size_t bytes) : DeviceMemory(sheaf::cuda::kDevice, bytes) {}
};

// Skipped where there is no device.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override;
};

// A stream of its own, which waits for no other.
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  operator sheaf::cuda::Stream() const { return static_cast<sheaf::cuda::Stream>(stream_); }
  void* handle() const { return stream_; }
  void wait() const;

  // In the order of the stream. The host memory has to be pinned, and to live until wait().
  void upload(void* device, const void* host, size_t bytes) const;
  void download(void* host, const void* device, size_t bytes) const;

 private:
  void* stream_ = nullptr;
};

// Host memory that a stream can copy.
class PinnedMemory {
 public:
  explicit PinnedMemory(size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::byte* data() const { return memory_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
};

// What `record` launches on the stream, captured. CUDA refuses a capture in which anything is
// allocated or waited for.
class DeviceGraph {
 public:
  DeviceGraph(const DeviceStream& stream, const std::function<void()>& record);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  void launch(const DeviceStream& stream) const;

 private:
  CUgraphExec_st* graph_ = nullptr;
};

// SPDX-License-Identifier: MIT
//
// The GPU for tests: a machine that runs plans there, and the few things of the CUDA runtime that
// tests need.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

#include "helpers/machine.h"
#include "sheaf/cuda.h"

struct CUgraphExec_st;  // cudaGraphExec_t points to one

// Every kernel of the CUDA backend, on the current device. The tensors of a run lie behind its
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

  operator sheaf::cuda::Stream() const { return stream_; }
  void wait() const;

  // In the order of the stream. The host memory has to be pinned, and to live until wait().
  void upload(void* device, const void* host, size_t bytes) const;
  void download(void* host, const void* device, size_t bytes) const;

 private:
  sheaf::cuda::Stream stream_ = nullptr;
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

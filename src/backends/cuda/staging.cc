// SPDX-License-Identifier: MIT
#include "backends/cuda/staging.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/device.h"
#include "backends/cuda/tables/tables.h"

namespace sheaf::cuda {
namespace {

// Portable: the memory is locked for every device of the process.
void* allocate_pinned(size_t bytes) {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
    cudaGetLastError();  // or the next check reports this error once more
    return nullptr;
  }
  return memory;
}

void release_pinned(void* memory) { cudaFreeHost(memory); }

// Also for memory that is mapped for reading only, where the device allows that.
bool lock(const void* memory, size_t bytes) {
  void* const writable = const_cast<void*>(memory);  // nothing writes to it
  constexpr unsigned kFlags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  for (const unsigned flags : {kFlags, kFlags | cudaHostRegisterReadOnly}) {
    if (cudaHostRegister(writable, bytes, flags) == cudaSuccess) {
      return true;
    }
    cudaGetLastError();
  }
  return false;
}

void unlock(const void* memory) { cudaHostUnregister(const_cast<void*>(memory)); }

const void* seen_by_device(const void* memory) {
  void* seen = nullptr;
  if (cudaHostGetDevicePointer(&seen, const_cast<void*>(memory), 0) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return seen;
}

void copy_enqueued(void* to, const void* from, size_t bytes, void* stream) {
  check_result(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<Stream>(stream)),
               "copying a piece of rows");
}

void* make_event() {
  cudaEvent_t event = nullptr;
  check_result(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}

void free_event(void* event) { cudaEventDestroy(static_cast<cudaEvent_t>(event)); }

void record(void* event, void* stream) {
  check_result(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<Stream>(stream)),
               "recording an event");
}

void wait_for_event(void* event) {
  check_result(cudaEventSynchronize(static_cast<cudaEvent_t>(event)),
               "waiting for a piece of rows");
}

// One that does not wait for the default stream, nor the default stream for it.
void* make_stream() {
  cudaStream_t stream = nullptr;
  check_result(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return stream;
}

void free_stream(void* stream) { cudaStreamDestroy(static_cast<Stream>(stream)); }

void follow(void* stream, void* event) {
  check_result(cudaStreamWaitEvent(static_cast<Stream>(stream), static_cast<cudaEvent_t>(event), 0),
               "ordering two streams");
}

int use_device(int number) {
  int before = 0;
  check_result(cudaGetDevice(&before), "asking for the current device");
  if (before != number) {
    check_result(cudaSetDevice(number), "changing to a device");
  }
  return before;
}

bool capturing(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_result(cudaStreamIsCapturing(static_cast<Stream>(stream), &status),
               "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

const StagingSteps kStagingSteps{.allocate = allocate_pinned,
                                 .release = release_pinned,
                                 .lock = lock,
                                 .unlock = unlock,
                                 .seen_by_device = seen_by_device,
                                 .copy = copy_enqueued,
                                 .make_event = make_event,
                                 .free_event = free_event,
                                 .record = record,
                                 .wait = wait_for_event,
                                 .make_stream = make_stream,
                                 .free_stream = free_stream,
                                 .follow = follow,
                                 .use = use_device,
                                 .capturing = capturing,
                                 .move_rows = move_numbered_rows,
                                 .cache = &kCacheSteps};

}  // namespace sheaf::cuda

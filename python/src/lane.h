// SPDX-License-Identifier: MIT
//
// Where the arrays of a call are, and where it runs: on the host, or on a stream of one GPU.
#pragma once

#include <string>

#include "libraries.h"
#include "sheaf/cuda.h"

namespace sheaf::python {

bool is_gpu(const DLDevice& device);          // one of CUDA's
bool is_host(const DLDevice& device);         // also if pinned for CUDA
std::string text_of(const DLDevice& device);  // "the CPU", "cuda:0", "DLPack device type 10"

// The first array on a GPU leads: the call runs on its device, on the current stream of its
// library, and takes memory from there.
struct Lane {
  bool on_gpu = false;
  int device = 0;
  Library library = Library::kOther;
  nb::object leader;
  cuda::Stream stream = nullptr;
  nb::object stream_owner;
  // Arrays of two libraries, or of one that has no current stream to order later work by: the call
  // ends when the work has ended.
  bool waits = false;

  // Of an array on a GPU. False if the lane is on another.
  bool admit(nb::handle object, const DLDevice& of_object);
};

// What __dlpack__(stream=) is to make wait for the array. Without a lane nothing is read, so
// nothing need wait.
nb::object dlpack_stream(const Lane* lane, Library library);

struct Arrays;

// Unless all arrays are on the device that the call runs on.
void refuse_other_devices(std::string_view call, const Arrays& arrays);

}  // namespace sheaf::python

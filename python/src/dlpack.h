// SPDX-License-Identifier: MIT
//
// The receiving end of DLPack in Python: a tensor taken out of a capsule, and given back when it is
// let go.
#pragma once

#include <nanobind/nanobind.h>

#include "sheaf/dlpack.h"

namespace sheaf::python {

namespace nb = nanobind;

// Owns what a capsule held; calls its deleter exactly once.
class Import {
 public:
  // Calls object.__dlpack__(), for version 1 if the object knows it, with `stream` if that is an
  // object. Errors of the object pass through unchanged.
  Import(nb::handle object, const nb::object& stream);
  ~Import();
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  const DLTensor& tensor() const { return *tensor_; }
  bool read_only() const { return read_only_; }

 private:
  void take_from(nb::handle capsule);

  void* managed_ = nullptr;  // the producer's struct, of either version
  bool versioned_ = false;
  bool read_only_ = false;
  const DLTensor* tensor_ = nullptr;
};

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
#include "open_bytes.h"

// One TensorProto, as in the data sets of ONNX's backend tests.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::open_bytes("x.pb", bytes, count);
  return 0;
}

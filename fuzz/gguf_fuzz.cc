// SPDX-License-Identifier: MIT
#include "open_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::open_bytes("x.gguf", bytes, count);
  return 0;
}

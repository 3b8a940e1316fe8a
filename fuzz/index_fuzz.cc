// SPDX-License-Identifier: MIT
#include "open_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::open_bytes("x.safetensors.index.json", bytes, count);
  return 0;
}

// SPDX-License-Identifier: MIT
#include "backends/cpu/machine.h"

#include <unistd.h>

namespace sheaf::cpu {
namespace {

// sysconf answers 0 or -1 where it does not know (most arm64 systems, some containers).
int64_t known_or(int name, int64_t guess) {
  const int64_t size = sysconf(name);
  return size > 0 ? size : guess;
}

}  // namespace

Caches read_caches() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return {known_or(_SC_LEVEL2_CACHE_SIZE, int64_t{1} << 20),
          known_or(_SC_LEVEL3_CACHE_SIZE, int64_t{32} << 20)};
#else
  return {int64_t{1} << 20, int64_t{32} << 20};
#endif
}

}  // namespace sheaf::cpu

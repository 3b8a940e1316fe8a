# SPDX-License-Identifier: MIT

# sheaf_quick_build(<target> <level>): for tests and tools, which should be built soon and need not be
# fast. Optimised builds compile them at <level>, -O0 or -O1. Builds with sanitizers keep their -O1:
# at -O0 each call of the standard library is a frame that AddressSanitizer looks after, and tests
# take up to a hundred times as long.
function(sheaf_quick_build target level)
  if(level STREQUAL "-O0")
    list(APPEND level -U_FORTIFY_SOURCE)  # glibc's needs optimisation
  endif()
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${level}>")
endfunction()

# SPDX-License-Identifier: MIT

# sheaf_quick_build(<target> <level>): for tests and tools, which should be built soon and need not be
# fast. Optimised builds compile them at <level>, -O0 or -O1. With sanitizers it is -O0: the checks
# are the same, and the code around each of them takes GCC twice as long to optimise. Only libFuzzer's
# programs run for long enough to pay for it.
function(sheaf_quick_build target level)
  if(SHEAF_SANITIZE AND NOT SHEAF_FUZZ)
    target_compile_options(${target} PRIVATE -O0)
  else()
    if(level STREQUAL "-O0")
      list(APPEND level -U_FORTIFY_SOURCE)  # glibc's needs optimisation
    endif()
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${level}>")
  endif()
endfunction()

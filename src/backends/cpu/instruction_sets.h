// SPDX-License-Identifier: MIT
//
// Which of Highway's instruction sets the kernels are compiled for. To be included before Highway's
// own headers, everywhere: the dispatch table and its readers have to agree.
#pragma once

#ifdef HWY_TARGETS
#error "include backends/cpu/instruction_sets.h before Highway's headers"
#endif

// Left out, since each takes 20 s to compile and runs nothing that the next set down does not:
//   SSSE3               processors of 2006 and 2007, which run the scalar code
//   SVE2                to SVE, g++ 12 adds another check for overlap and nothing else
//   SVE_256, SVE2_128   SVE with a fixed length of vectors, which no loop here depends on
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

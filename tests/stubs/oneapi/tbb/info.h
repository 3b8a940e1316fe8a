// SPDX-License-Identifier: MIT
//
// A stand-in for the part of oneTBB that the cpu backend uses, over std::thread, for builds under
// ThreadSanitizer: a library that is not instrumented hides its synchronisation, and every pair of
// accesses on two sides of it would be reported. The threads are new ones for every call.
#pragma once

namespace oneapi::tbb::info {

// More than the machine may have: races do not need cores.
inline int default_concurrency() { return 8; }

}  // namespace oneapi::tbb::info

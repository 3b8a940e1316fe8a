// SPDX-License-Identifier: MIT
//
// Gathers, scatters, bags and prefetches mixed at random on tables of every place, way and cache
// size, against the same plans on plain memory. For tests, the soak and the fuzzer alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

// `from(low, high)` gives the numbers that all is made of. The device is the deferred one. Returns
// what differed; empty: nothing did.
std::string run_table_world(const std::function<int64_t(int64_t, int64_t)>& from);

// SPDX-License-Identifier: MIT
#pragma once

namespace oneapi::tbb {

class static_partitioner {};

}  // namespace oneapi::tbb

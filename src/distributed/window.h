// SPDX-License-Identifier: MIT
//
// Memory of every rank that all ranks of one node can read. It starts as zeros, and is ordinary
// memory: atomics order what goes through it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sheaf::distributed {

class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;  // collective

  virtual std::byte* of(int rank) const = 0;  // only its owner writes there

  // Between two looks at memory that another rank will write, the first time with 0 `polls`: lets
  // messages move and, after a while, other processes run.
  virtual void poll(int64_t polls) const = 0;
};

}  // namespace sheaf::distributed

// SPDX-License-Identifier: MIT
//
// Tensors in guarded memory, for problems made at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "helpers/guarded.h"
#include "helpers/machine.h"
#include "helpers/rng.h"
#include "sheaf/tensor.h"

// A tensor in its arena. `first` is its element [0, 0, ...].
struct Placed {
  sheaf::TensorSpec spec;
  std::span<std::byte> memory;  // from the first to the last byte of any element
  std::byte* first = nullptr;

  std::byte* element(int64_t number) const;  // counted row-major

  Memory read() const { return {first, memory}; }

  // `memory`, and what lies up to 128 bytes beside it in the arena: a stray write lands there.
  std::span<std::byte> watched(const GuardedMemory& arena) const;
};

// Puts the tensor at a random end of the arena, sometimes with a misaligned pointer; false if it is
// larger.
bool place(Rng& rng, const GuardedMemory& arena, const sheaf::TensorSpec& spec, Placed& placed);

// What runs right now: printed if the program crashes on memory that it may not touch.
extern char running[4096];
void tell_on_crash();

// The number in an environment variable.
uint64_t from_environment(const char* name, uint64_t otherwise);

// SPDX-License-Identifier: MIT
//
// Many updates to few cells: where the order of joining shows in the bits.
#pragma once

#include <cstdint>

#include "helpers/machine.h"

enum class Collisions { kOneCell, kHundredCells, kZipf };

// Rows of `columns` elements, of every type with every reduction it knows, to 1000 cells, against
// the oracle. `tame` as in random_problem.h.
void check_collisions(const Machine& machine, Collisions collisions, int64_t updates,
                      int64_t columns, bool tame);

// With `relaxed`, on numbers that are the same in any order: add, min and max of whole ones.
void check_relaxed_collisions(const Machine& machine, Collisions collisions, int64_t updates,
                              int64_t columns);

// SPDX-License-Identifier: MIT
//
// operator new that fails on demand. (In a file of its own: where the compiler can look into both,
// it takes free() in an operator delete for a mistake.)
#pragma once

namespace sheaf::faults {

// This thread's next `count` allocations succeed and all later ones fail; negative: none fails.
void allow_allocations(int count);

// The next `count` succeed, the one after them fails, and all others succeed: only it was large.
void fail_allocation(int count);

// Of this thread: how many of its blocks are not yet freed.
long live_blocks();

}  // namespace sheaf::faults

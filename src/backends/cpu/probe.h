// SPDX-License-Identifier: MIT
//
// Do this processor's gather instructions beat plain loads? On many they do not (microcode fixes,
// slow units), and no feature bit tells: a look at the clock does.
#pragma once

namespace sheaf::cpu {

// Measured once, on first use, in some tens of microseconds.
bool gather_instruction_wins();

}  // namespace sheaf::cpu

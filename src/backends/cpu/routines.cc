// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h).
#include "backends/cpu/routines.h"

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/routines.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/check-inl.h"
#include "backends/cpu/copy_direct-inl.h"
#include "backends/cpu/gather_direct-inl.h"
#include "backends/cpu/move-inl.h"
#include "backends/cpu/resolve-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

const Routines& target_routines() {
  static constexpr Routines kRoutines{check_indices, resolve_indices, move_rows,
                                      move_direct,   gather_short,    kHasGatherInstruction};
  return kRoutines;
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sheaf::cpu {

HWY_EXPORT(target_routines);

const Routines& routines() { return HWY_DYNAMIC_DISPATCH(target_routines)(); }

}  // namespace sheaf::cpu
#endif

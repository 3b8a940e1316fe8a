// SPDX-License-Identifier: MIT
//
// Compiled once for each instruction set of this architecture (instruction_sets.h).
#include "backends/cpu/movers/routines.h"

#include "backends/cpu/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/movers/routines.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file again for each target.
#include <hwy/highway.h>

#include "backends/cpu/indices/check-inl.h"
#include "backends/cpu/indices/resolve-inl.h"
#include "backends/cpu/movers/copy-inl.h"
#include "backends/cpu/movers/copy_direct-inl.h"
#include "backends/cpu/movers/gather_direct-inl.h"
#include "backends/cpu/movers/stream_direct-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

const Routines& target_routines() {
  static constexpr Routines kRoutines{.check = check_indices,
                                      .resolve = resolve_indices,
                                      .copy = move_copied,
                                      .gather = move_gathered,
                                      .stream = move_streamed,
                                      .stream_staged = move_staged,
                                      .in_turn = move_in_turn,
                                      .from_short = move_short,
                                      .copy_direct = copy_direct,
                                      .gather_direct = gather_direct,
                                      .stream_direct = stream_direct};
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

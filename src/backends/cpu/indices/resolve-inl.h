// SPDX-License-Identifier: MIT
//
// Index values into byte offsets, a block at a time. The rule is chosen outside the loops, so that
// each loop is one expression the compiler turns into vectors.
#if defined(SHEAF_CPU_RESOLVE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHEAF_CPU_RESOLVE_INL
#undef SHEAF_CPU_RESOLVE_INL
#else
#define SHEAF_CPU_RESOLVE_INL
#endif

#include <type_traits>

#include "backends/cpu/indices/index_rule-inl.h"
#include "backends/cpu/movers/routines.h"
#include "plan/resolve.h"

HWY_BEFORE_NAMESPACE();
namespace sheaf::cpu::HWY_NAMESPACE {

// Where data is at point i, apart from the index.
HWY_INLINE int64_t data_at(const IndexRun& run, int64_t i) {
  return run.places != nullptr ? run.places[i] : i * run.data_step;
}

HWY_INLINE void start_offsets(const IndexRun& run, int64_t* HWY_RESTRICT offsets) {
  const int32_t* const places = run.places;
  if (places != nullptr) {
    for (int64_t i = 0; i < run.count; ++i) {
      offsets[i] = places[i];
    }
  } else {
    for (int64_t i = 0; i < run.count; ++i) {
      offsets[i] = i * run.data_step;
    }
  }
}

// offsets[i] += f(value i) · stride; the first coordinate also starts the sum, with data_at(i).
// A run with stride 1 is its own loop: those become vectors.
template <class Index, class F>
HWY_INLINE void add_offsets(const IndexRun& run, const Coordinate& c, bool first,
                            int64_t* HWY_RESTRICT offsets, F f) {
  const std::byte* HWY_RESTRICT indices =
      run.indices + c.offset * static_cast<int64_t>(sizeof(Index));
  if (run.stride == 1 && first && run.data_step == 0 && run.places == nullptr) {
    for (int64_t i = 0; i < run.count; ++i) {
      offsets[i] = f(load_index<Index>(indices, i)) * c.stride;
    }
    return;
  }
  if (first) {
    start_offsets(run, offsets);
  }
  if (run.stride == 1) {
    for (int64_t i = 0; i < run.count; ++i) {
      offsets[i] += f(load_index<Index>(indices, i)) * c.stride;
    }
  } else {
    for (int64_t i = 0; i < run.count; ++i) {
      offsets[i] += f(load_index<Index>(indices, i * run.stride)) * c.stride;
    }
  }
}

// The nearest entry, from-end values first. Also what `fail` uses: its indices have been checked,
// or are checked here (kCheck); should another thread change them since, no address leaves data.
// True if no index was clamped, or none was looked at.
template <class Index, bool kCheck>
HWY_INLINE bool add_clamped(const Nest& nest, const IndexRun& run, const Coordinate& c, bool first,
                            int64_t* HWY_RESTRICT offsets) {
  const EntryRule rule = entry_rule(nest, c);
  int64_t bad = 0;
  add_offsets<Index>(run, c, first, offsets, [rule, &bad](Index value) HWY_ATTR {
    return clamped_entry<kCheck>(rule, value, bad);
  });
  return bad == 0;
}

template <class Index>
HWY_INLINE void add_trusted(const Nest& nest, const IndexRun& run, const Coordinate& c, bool first,
                            int64_t* HWY_RESTRICT offsets) {
  const EntryRule rule = entry_rule(nest, c);
  add_offsets<Index>(run, c, first, offsets,
                     [rule](Index value) HWY_ATTR { return trusted_entry(rule, value); });
}

template <class Index>
void add_wrapped(const Nest& nest, const IndexRun& run, const Coordinate& c, bool first,
                 int64_t* HWY_RESTRICT offsets) {
  add_offsets<Index>(run, c, first, offsets, [&](Index value) HWY_ATTR {
    return resolve(value, c.extent, nest.negative, OutOfRange::kWrap);
  });
}

// Out of range in any component fills the row, whatever the others say.
template <class Index>
void add_or_fill(const Nest& nest, const IndexRun& run, const Coordinate& c, bool first,
                 int64_t* offsets) {
  const std::byte* indices = run.indices + c.offset * static_cast<int64_t>(sizeof(Index));
  for (int64_t i = 0; i < run.count; ++i) {
    const auto value = load_index<Index>(indices, i * run.stride);
    const int64_t at = in_range_or_outside(value, c.extent, nest.negative);
    const int64_t so_far = first ? data_at(run, i) : offsets[i];
    const bool fill = at == kOutside || so_far == kFillRow;
    offsets[i] = fill ? kFillRow : so_far + at * c.stride;
  }
}

template <class Index>
bool add_coordinate(const Nest& nest, const IndexRun& run, const Coordinate& c, bool first,
                    int64_t* HWY_RESTRICT offsets) {
  switch (nest.out_of_range) {
    case OutOfRange::kFail:
      if (run.check) {
        return add_clamped<Index, true>(nest, run, c, first, offsets);
      }
      [[fallthrough]];
    case OutOfRange::kClamp: add_clamped<Index, false>(nest, run, c, first, offsets); break;
    case OutOfRange::kFill:
    case OutOfRange::kSkip: add_or_fill<Index>(nest, run, c, first, offsets); break;
    case OutOfRange::kWrap: add_wrapped<Index>(nest, run, c, first, offsets); break;
    case OutOfRange::kTrust: add_trusted<Index>(nest, run, c, first, offsets); break;
  }
  return true;
}

// The common index types have their own loops. The others, all of which fit int64, are widened
// first: a few percent of time for two thirds less code.
template <class Index>
bool resolve_run(const Nest& nest, const IndexRun& run, int64_t* HWY_RESTRICT offsets) {
  constexpr bool kCommon = std::is_same_v<Index, int32_t> || sizeof(Index) == 8;
  bool first = true;
  bool good = true;
  for (const Coordinate& c : nest.coordinates) {
    if constexpr (kCommon) {
      good &= add_coordinate<Index>(nest, run, c, first, offsets);
    } else {
      int64_t wide[kBlock];
      for (int64_t i = 0; i < run.count; ++i) {
        wide[i] = widen(load_index<Index>(run.indices, c.offset + i * run.stride));
      }
      const auto* memory = reinterpret_cast<const std::byte*>(wide);
      good &= add_coordinate<int64_t>(nest,
                                      {memory, 1, run.count, run.data_step, run.check, run.places},
                                      {c.extent, c.stride, 0}, first, offsets);
    }
    first = false;
  }
  return good;
}

bool resolve_indices(const Nest& nest, const IndexRun& run, int64_t* offsets) {
  if (nest.coordinates.empty()) {  // tuples of length 0: data alone moves
    start_offsets(run, offsets);
    return true;
  }
  return with_index_type(
      nest.index_type, [&](auto zero) { return resolve_run<decltype(zero)>(nest, run, offsets); });
}

}  // namespace sheaf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// SPDX-License-Identifier: MIT
//
// Long lists of updates: how they are distributed over blocks, and how producer warps copy them to
// a ring in shared memory.
//
// The ring holds updates by element: what a lane of the consumer reduces is contiguous, so that it
// reads 16 bytes of updates at a time. With whole updates side by side it would read once per
// update, which takes longer than adding.
#pragma once

#include <algorithm>
#include <bit>

#include "backends/cuda/kernel/pipeline.cuh"
#include "backends/cuda/scatter/reduce.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

inline constexpr int kTeamThreads = tuning::Long::kProducers + 32;  // one warp consumes
inline constexpr int kLongThreads = tuning::Long::kTeams * kTeamThreads;

template <int kElement>
inline constexpr int kGroupElements = std::min(32, tuning::Long::kGroupBytes / kElement);

// Updates of a stage, where words are no wider than elements.
template <int kElement>
inline constexpr int kShortestStage = tuning::Long::kPasses* tuning::Long::kProducers /
                                      ((kGroupElements<kElement> + 1) / tuning::Long::kHalves);

// From one element's updates to the next one's. The 16 bytes keep both the producers' stores and
// the consumer's loads from meeting in a bank.
template <int kElement>
inline constexpr int kColumnBytes = tuning::Long::kStageRows* kElement + 16;
template <int kElement>
inline constexpr int kLongSlotBytes = kGroupElements<kElement>* kColumnBytes<kElement>;
template <int kElement>
inline constexpr int kRingBytes = tuning::Long::kSlots* kLongSlotBytes<kElement>;  // of a team

struct LongArgs {
  ReduceArgs reduce;
  int64_t row_elements, element_bytes;
  int64_t groups_of_row, groups;  // of a row; of a cell
  int word_bytes;                 // by which updates are loaded
  int teams;                      // of a block, as many as its shared memory has room for
};

// One list and one group of its cell's elements.
struct LongItem {
  int64_t begin, count;     // of the list
  int64_t output, updates;  // byte offsets of the group
  int lanes;                // elements
  int words;                // of an update
  int words_at_once;        // that producers load at a time: half of them, rounded up
  int rows_of_pass;         // updates that producers load at a time
  uint32_t stages;

  __device__ int rows_of_stage() const { return rows_of_pass * tuning::Long::kPasses; }
};

// Huge lists are noted from the front on, the others from the back.
__device__ inline List long_list(const LongArgs& args, int64_t at) {
  const SortedTuples& sorted = args.reduce.sorted;
  const auto huge = static_cast<int64_t>(sorted.long_state->huge);
  const int64_t slot = at < huge ? at : sorted.long_capacity - 1 - (at - huge);
  const LongList& list = sorted.long_lists[slot];
  return List(args.reduce, list.begin, list.end);
}

__device__ inline LongItem long_item(const LongArgs& args, int64_t number, int group_elements) {
  const List list = long_list(args, number / args.groups);
  const int64_t group = number % args.groups;
  const int64_t slice = group / args.groups_of_row;
  const int64_t first = (group - slice * args.groups_of_row) * group_elements;
  const Place place = locate(args.reduce.slices, slice);
  LongItem item;
  item.begin = list.begin;
  item.count = list.end - list.begin;
  item.output = list.cell + place.data + first * args.element_bytes;
  item.updates = place.output + first * args.element_bytes;
  item.lanes = static_cast<int>(min(int64_t{group_elements}, args.row_elements - first));
  item.words = item.lanes * static_cast<int>(args.element_bytes) / args.word_bytes;
  item.words_at_once = (item.words + tuning::Long::kHalves - 1) / tuning::Long::kHalves;
  // A power of 2, so that stages are whole rounds of the consumer.
  item.rows_of_pass = min(tuning::Long::kStageRows / tuning::Long::kPasses,
                          1 << (31 - __clz(tuning::Long::kProducers / item.words_at_once)));
  item.stages = static_cast<uint32_t>((item.count - 1) / item.rows_of_stage() + 1);
  return item;
}

// The tuples of a list, by their place in the sorted order, and where their updates are. Most
// scatters have one loop over less than 2^32 tuples. A number keeps the type it was loaded as: a
// conversion would wait for it.
struct TuplesOfOneLoop {
  using Number = uint32_t;
  const Number* sorted;
  int64_t stride;

  __device__ explicit TuplesOfOneLoop(const ReduceArgs& args)
      : sorted(static_cast<const Number*>(args.sorted.tuples)),
        stride(args.tuples.loops[0].output) {}
  __device__ static bool applies_to(const ReduceArgs& args) {
    return args.tuples.any_loops == 1 && !args.sorted.wide;
  }
  __device__ Number number(int64_t at) const { return __ldcs(sorted + at); }
  __device__ int64_t update(Number number) const { return int64_t{number} * stride; }
};

__device__ __noinline__ inline int64_t locate_update(const AnyNest& tuples, int64_t number) {
  return locate(tuples, number).output;
}

struct AnyTuples {
  using Number = int64_t;
  const ReduceArgs& args;

  __device__ explicit AnyTuples(const ReduceArgs& reduce) : args(reduce) {}
  __device__ Number number(int64_t at) const { return number_at(args, args.sorted.tuples, at); }
  __device__ int64_t update(Number number) const { return locate_update(args.tuples, number); }
};

// Writes a word of update `row` to the columns of its elements. `at` is the word's first byte in
// the group.
template <int kWord, int kElement>
__device__ void store_by_element(std::byte* slot, int row, int at, Word<kWord> word) {
  std::byte* const to = slot + at / kElement * kColumnBytes<kElement> + row * kElement;
  if constexpr (kWord <= kElement) {
    *reinterpret_cast<Word<kWord>*>(to + at % kElement) = word;
  } else {
    const auto elements = std::bit_cast<Elements<Word<kElement>, kWord / kElement>>(word);
#pragma unroll
    for (int i = 0; i < kWord / kElement; ++i) {
      *reinterpret_cast<Word<kElement>*>(to + i * kColumnBytes<kElement>) = elements.values[i];
    }
  }
}

// One thread's part of every stage of an item. What the loops need is in registers: LongArgs and
// LongItem are memory, read again after every barrier.
template <int kWord, int kElement, class Tuples>
class Producer {
 public:
  __device__ Producer(const LongArgs& args, const LongItem& item, Ring<tuning::Long::kSlots>& ring,
                      std::byte* memory, int thread)
      : ring_(ring),
        tuples_(args.reduce),
        rows_of_pass_(item.rows_of_pass),
        words_at_once_(item.words_at_once) {
    row_ = thread / words_at_once_;
    const int word = thread - row_ * words_at_once_;
    first_byte_ = word * kWord;
    from_ = args.reduce.updates + item.updates + first_byte_;
    memory_ = memory;
    has_row_ = row_ < rows_of_pass_;
    has_second_word_ = word + words_at_once_ < item.words;
    next_number_ = item.begin + row_;
    numbers_left_ = has_row_ ? item.count - row_ : 0;
    words_left_ = numbers_left_;
  }

  // Updates are loaded one stage ahead of their use, and the numbers of their tuples one stage
  // ahead of them.
  __device__ void run(uint32_t first_stage, uint32_t stages) {
    Numbers numbers;
    Words words;
    load_numbers(numbers);
    load_words(numbers, words);
    load_numbers(numbers);
    for (uint32_t s = 0; s < stages; ++s) {
      store_stage(first_stage + s, words);
      load_words(numbers, words);
      load_numbers(numbers);
    }
  }

 private:
  using Numbers = typename Tuples::Number[tuning::Long::kPasses];
  using Words = Word<kWord>[tuning::Long::kPasses][tuning::Long::kHalves];

  // Of the next stage that has not been loaded, as load_words() does.
  __device__ void load_numbers(Numbers& numbers) {
#pragma unroll
    for (int pass = 0; pass < tuning::Long::kPasses; ++pass) {
      const int below = pass * rows_of_pass_;
      numbers[pass] = below < numbers_left_ ? tuples_.number(next_number_ + below) : 0;
    }
    next_number_ += tuning::Long::kPasses * rows_of_pass_;
    numbers_left_ -= tuning::Long::kPasses * rows_of_pass_;
  }

  __device__ void load_words(const Numbers& numbers, Words& words) {
#pragma unroll
    for (int pass = 0; pass < tuning::Long::kPasses; ++pass) {
      const bool live = pass * rows_of_pass_ < words_left_;
      const std::byte* const update = from_ + (live ? tuples_.update(numbers[pass]) : 0);
#pragma unroll
      for (int half = 0; half < tuning::Long::kHalves; ++half) {
        words[pass][half] = live && (half == 0 || has_second_word_)
                                ? load_once<Word<kWord>>(update + half * words_at_once_ * kWord)
                                : Word<kWord>{};
      }
    }
    words_left_ -= tuning::Long::kPasses * rows_of_pass_;
  }

  __device__ void store_stage(uint32_t stage, const Words& words) {
    ring_.wait_empty(stage);
    if (has_row_) {
      std::byte* const slot = memory_ + ring_.slot(stage) * kLongSlotBytes<kElement>;
#pragma unroll
      for (int half = 0; half < tuning::Long::kHalves; ++half) {
        if (half == 0 || has_second_word_) {
          const int at = first_byte_ + half * words_at_once_ * kWord;
#pragma unroll
          for (int pass = 0; pass < tuning::Long::kPasses; ++pass) {
            store_by_element<kWord, kElement>(slot, row_ + pass * rows_of_pass_, at,
                                              words[pass][half]);
          }
        }
      }
    }
    ring_.full[ring_.slot(stage)].arrive();
  }

  Ring<tuning::Long::kSlots>& ring_;
  std::byte* memory_;
  const std::byte* from_;
  Tuples tuples_;
  int64_t next_number_, numbers_left_, words_left_;
  int rows_of_pass_, words_at_once_;
  int row_, first_byte_;  // the thread's, of its first word
  bool has_row_, has_second_word_;
};

// A team's ring, and the item it is at.
struct Team {
  Ring<tuning::Long::kSlots> ring;
  LongItem item;
  bool took;
};

template <int kElement, class Tuples>
__device__ void produce(const LongArgs& args, Team& team, std::byte* memory, int thread,
                        uint32_t first_stage) {
  with_word_bytes(args.word_bytes, [&](auto word) {
    Producer<word(), kElement, Tuples>(args, team.item, team.ring, memory, thread)
        .run(first_stage, team.item.stages);
  });
}

// Not inlined: one copy serves all types of a size.
template <int kElement>
__device__ __noinline__ void produce_any(const LongArgs& args, Team& team, std::byte* memory,
                                         int thread, uint32_t first_stage) {
  produce<kElement, AnyTuples>(args, team, memory, thread, first_stage);
}

template <int kElement>
__device__ void produce_item(const LongArgs& args, Team& team, std::byte* memory, int thread,
                             uint32_t first_stage) {
  if (TuplesOfOneLoop::applies_to(args.reduce)) {
    produce<kElement, TuplesOfOneLoop>(args, team, memory, thread, first_stage);
  } else {
    produce_any<kElement>(args, team, memory, thread, first_stage);
  }
}

}  // namespace sheaf::cuda

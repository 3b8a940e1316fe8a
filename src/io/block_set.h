// SPDX-License-Identifier: MIT
//
// Which blocks of a file are wanted. The n-th wanted block goes to slot n of the buffers, so a run
// of neighbouring blocks is one read and lies together in memory.
//
// Few blocks of a large file are a sorted list; otherwise there is one bit per block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sheaf::io {

class BlockSet {
 public:
  // How many blocks fit into `bytes` as bits, with their share of the counts of 64 blocks.
  static constexpr int64_t blocks_in(int64_t bytes) { return bytes * 4; }
  // Whether a list of `most` blocks takes less memory than bits for `blocks` of them.
  static constexpr bool prefers_list(int64_t most, int64_t blocks) { return most < blocks / 32; }

  // For blocks [first, end), of which at most `most` are added.
  BlockSet(int64_t first, int64_t end, int64_t most)
      : first_(first), is_list_(prefers_list(most, end - first)) {
    if (!is_list_) {
      words_.resize(static_cast<size_t>((end - first + 63) / 64));
    }
  }

  void add(int64_t block) {
    if (!is_list_) {
      word(block) |= bit(block);
    } else if (list_.empty() || list_.back() != block) {
      list_.push_back(block);
    }
  }

  // After the last add(), before everything below: returns the number of blocks.
  int64_t count() {
    if (is_list_) {
      std::sort(list_.begin(), list_.end());
      list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
      return std::ssize(list_);
    }
    before_.resize(words_.size());
    int64_t total = 0;
    for (size_t w = 0; w < words_.size(); ++w) {
      before_[w] = total;
      total += std::popcount(words_[w]);
    }
    return total;
  }

  bool contains(int64_t block) const {
    return is_list_ ? std::binary_search(list_.begin(), list_.end(), block)
                    : (word(block) & bit(block)) != 0;
  }

  int64_t slot_of(int64_t block) const {
    if (is_list_) {
      return std::lower_bound(list_.begin(), list_.end(), block) - list_.begin();
    }
    const auto at = static_cast<size_t>((block - first_) / 64);
    return before_[at] + std::popcount(words_[at] & (bit(block) - 1));
  }

  // The first wanted block at or after `block`; `end` if there is none before it.
  int64_t next(int64_t block, int64_t end) const {
    if (is_list_) {
      const auto found = std::lower_bound(list_.begin(), list_.end(), block);
      return found == list_.end() ? end : std::min(*found, end);
    }
    while (block < end) {
      const uint64_t rest = word(block) & ~(bit(block) - 1);
      if (rest != 0) {
        const int64_t found = block - (block - first_) % 64 + std::countr_zero(rest);
        return found < end ? found : end;
      }
      block += 64 - (block - first_) % 64;
    }
    return end;
  }

 private:
  uint64_t& word(int64_t block) { return words_[static_cast<size_t>((block - first_) / 64)]; }
  uint64_t word(int64_t block) const { return words_[static_cast<size_t>((block - first_) / 64)]; }
  uint64_t bit(int64_t block) const { return uint64_t{1} << ((block - first_) % 64); }

  int64_t first_;
  bool is_list_;
  std::vector<int64_t> list_;
  std::vector<uint64_t> words_;
  std::vector<int64_t> before_;  // blocks wanted before each word
};

// How many of a table's blocks are looked at together, so that the set stays within `memory`; at
// most `most` of the `blocks` are wanted.
inline int64_t blocks_of_a_part(int64_t blocks, int64_t most, int64_t memory) {
  constexpr int64_t kListEntryBytes = 16;  // a growing vector has its old memory, too
  if (BlockSet::prefers_list(most, blocks) && most <= memory / kListEntryBytes) {
    return std::max<int64_t>(blocks, 1);
  }
  return BlockSet::blocks_in(memory);
}

// Blocks that are in memory at one time: wanted blocks of [first_block, end_block), in slots
// [first_slot, first_slot + slots).
struct Wave {
  int64_t first_block, end_block;
  int64_t first_slot, slots;
};

// Splits the `count` wanted blocks of [first, end) into waves of at most `most` slots.
inline std::vector<Wave> split_into_waves(const BlockSet& wanted, int64_t first, int64_t end,
                                          int64_t count, int64_t most) {
  std::vector<Wave> waves;
  for (int64_t slot = 0; slot < count; slot += most) {
    Wave wave{wanted.next(first, end), 0, slot, count - slot < most ? count - slot : most};
    first = wave.first_block;
    for (int64_t i = 0; i < wave.slots; ++i) {
      first = wanted.next(first, end) + 1;
    }
    wave.end_block = first;
    waves.push_back(wave);
  }
  return waves;
}

}  // namespace sheaf::io

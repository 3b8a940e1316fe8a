// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sheaf/io.h"

namespace sheaf {

// SIEVE: rows enter at the head; a hit only sets a flag. The hand moves from the tail towards the
// head, clears flags, and evicts the first row whose flag is clear. Rows that are asked for once
// leave early; nothing moves on a hit.
struct RowCache::State {
  struct Key {
    uint64_t file;  // FileVersion::number()
    int64_t offset, bytes;
    int64_t stream = 0;  // ByteSpace::stream()
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t mixed =
          (static_cast<uint64_t>(key.offset) + static_cast<uint64_t>(key.stream) * 31 + key.file) *
          0x9e3779b97f4a7c15u;
      mixed ^= static_cast<uint64_t>(key.bytes) * 0xff51afd7ed558ccdu;
      return static_cast<size_t>(mixed ^ mixed >> 32);
    }
  };
  struct Row {
    Key key;
    bool visited;
    std::vector<std::byte> bytes;
  };
  using Rows = std::list<Row>;  // head first

  // What a row costs besides its bytes: list node, vector, hash node and bucket.
  static constexpr int64_t kOverhead = 160;

  std::mutex mutex;  // held by whoever calls the functions
  int64_t capacity = 0, used = 0, hits = 0, misses = 0;
  Rows rows;
  Rows::iterator hand = rows.end();
  std::unordered_map<Key, Rows::iterator, Hash> places;

  const std::byte* find(const Key& key);  // null: not there. Counts.
  void put(const Key& key, const std::byte* bytes);

 private:
  void evict_one();
};

}  // namespace sheaf

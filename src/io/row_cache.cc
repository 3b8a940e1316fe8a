// SPDX-License-Identifier: MIT
#include "io/row_cache.h"

#include <iterator>

namespace sheaf {

RowCache::RowCache(int64_t bytes) : state_(std::make_unique<State>()) { state_->capacity = bytes; }
RowCache::~RowCache() = default;

int64_t RowCache::hits() const {
  const std::lock_guard lock(state_->mutex);
  return state_->hits;
}
int64_t RowCache::misses() const {
  const std::lock_guard lock(state_->mutex);
  return state_->misses;
}
int64_t RowCache::bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

const std::byte* RowCache::State::find(const Key& key) {
  const auto place = places.find(key);
  if (place == places.end()) {
    ++misses;
    return nullptr;
  }
  ++hits;
  place->second->visited = true;
  return place->second->bytes.data();
}

void RowCache::State::put(const Key& key, const std::byte* bytes) {
  const int64_t cost = key.bytes + kOverhead;
  if (cost > capacity || places.contains(key)) {
    return;
  }
  while (used + cost > capacity) {
    evict_one();
  }
  rows.push_front({key, false, std::vector<std::byte>(bytes, bytes + key.bytes)});
  places[key] = rows.begin();
  used += cost;
}

void RowCache::State::evict_one() {
  if (hand == rows.end()) {
    hand = std::prev(rows.end());
  }
  while (hand->visited) {
    hand->visited = false;
    hand = hand == rows.begin() ? std::prev(rows.end()) : std::prev(hand);
  }
  const auto victim = hand;
  hand = hand == rows.begin() ? rows.end() : std::prev(hand);
  used -= victim->key.bytes + kOverhead;
  places.erase(victim->key);
  rows.erase(victim);
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// By digits, the lowest first. In each pass every piece of the entries counts its digits; then a
// piece knows where its entries of each digit go: behind those of lower digits, and behind those of
// the pieces before it.
#include "execution/key_order.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

#include "execution/cancel.h"
#include "execution/host_steps.h"
#include "support/checked.h"

namespace sheaf {
namespace {

constexpr int kDigitBits = 11;  // counts of a piece take 16 KiB: half of a first-level cache
constexpr int64_t kDigits = int64_t{1} << kDigitBits;
constexpr int64_t kPieceEntries = 1 << 15;  // ten times as many as digits, so that counts are cheap
constexpr int64_t kMostPieces = 256;        // 4 MiB of counts

struct Pass {
  const KeyedEntry* from;
  KeyedEntry* to;
  int64_t count;
  int shift;
  int64_t pieces, digits;
  int64_t* places;  // [pieces, kDigits]

  int64_t digit(int64_t i) const { return from[i].key >> shift & (digits - 1); }
  int64_t begin_of(int64_t piece) const { return count / pieces * piece; }
  int64_t end_of(int64_t piece) const { return piece + 1 == pieces ? count : begin_of(piece + 1); }

  void count_digits(int64_t piece) const {
    int64_t* const counts = places + piece * kDigits;
    std::fill_n(counts, digits, int64_t{0});
    for (int64_t i = begin_of(piece); i < end_of(piece); ++i) {
      ++counts[digit(i)];
    }
  }

  // Counts become the place of the first entry of a piece and digit.
  void place_digits() const {
    int64_t sum = 0;
    for (int64_t d = 0; d < digits; ++d) {
      for (int64_t piece = 0; piece < pieces; ++piece) {
        int64_t& place = places[piece * kDigits + d];
        const int64_t entries = place;
        place = sum;
        sum += entries;
      }
    }
  }

  void move(int64_t piece) const {
    int64_t* const next = places + piece * kDigits;
    for (int64_t i = begin_of(piece); i < end_of(piece); ++i) {
      to[next[digit(i)]++] = from[i];
    }
  }
};

void run_pass(std::string_view who, const Pass& pass, const Queue& queue) {
  const int64_t bytes = saturating_mul(pass.count, sizeof(KeyedEntry));
  const auto for_pieces = [&](auto step) {
    run_ranges(who, pass.pieces, bytes, queue, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        step(piece);
      }
    });
  };
  for_pieces([&](int64_t piece) { pass.count_digits(piece); });
  pass.place_digits();
  for_pieces([&](int64_t piece) { pass.move(piece); });
}

}  // namespace

KeyedEntry* sort_by_key(std::string_view who, KeyedEntry* entries, KeyedEntry* spare, int64_t count,
                        int64_t extent, const Queue& queue) {
  const auto largest = static_cast<uint64_t>(std::max<int64_t>(extent, 1) - 1);
  const auto bits = static_cast<int>(std::bit_width(largest));
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  if (passes == 0 || count < 2) {
    return entries;
  }
  int64_t pieces = std::clamp<int64_t>(count / kPieceEntries, 1, kMostPieces);
  int64_t few_places[kDigits];
  std::unique_ptr<int64_t[]> places;
  if (pieces > 1) {
    places.reset(new (std::nothrow) int64_t[static_cast<size_t>(pieces * kDigits)]);
    pieces = places == nullptr ? 1 : pieces;  // no memory: in one piece
  }
  const int digit_bits = (bits + passes - 1) / passes;
  for (int pass = 0; pass < passes; ++pass) {
    run_pass(who,
             {.from = entries,
              .to = spare,
              .count = count,
              .shift = pass * digit_bits,
              .pieces = pieces,
              .digits = int64_t{1} << digit_bits,
              .places = places == nullptr ? few_places : places.get()},
             queue);
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace sheaf

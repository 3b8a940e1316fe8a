// SPDX-License-Identifier: MIT
//
// Choices of experts, sorted by expert: a counting sort.
#include <algorithm>
#include <memory>
#include <new>

#include "execution/cancel.h"
#include "execution/host_steps.h"
#include "execution/key_order.h"
#include "plan/byte_ranges.h"
#include "plan/moe.h"
#include "plan/resolve.h"
#include "support/checked.h"

namespace sheaf {
namespace {

class Router {
 public:
  Router(const ConstTensor& experts, const MoeOptions& options, const RunOptions& run)
      : experts_(experts), request_{experts.spec, options}, queue_{.threads = run.threads} {}

  MoeRouting route() {
    check();
    choices_ = experts_.spec.sizes[1];
    count_ = element_count(experts_.spec.sizes);
    entries_ = memory_for(count_);
    spare_ = memory_for(count_);
    read();
    const KeyedEntry* const sorted =
        sort_by_key(kMoePermute, entries_.get(), spare_.get(), count_, number_, queue_);
    return placed(sorted);
  }

 private:
  void check() const {
    check_request(request_);
    if (experts_.data == nullptr && element_count(experts_.spec.sizes) > 0) {
      refuse(request_, {Reason::kNull, "experts"}, "null pointer",
             "experts has elements, but its pointer is null", "pass the tensor's memory");
    }
  }

  std::unique_ptr<KeyedEntry[]> memory_for(int64_t count) const {
    std::unique_ptr<KeyedEntry[]> memory(new (std::nothrow) KeyedEntry[static_cast<size_t>(count)]);
    if (memory == nullptr) {
      throw Error(refusal_of(request_, ErrorCode::kOutOfMemory, {Reason::kMemory}, "out of memory",
                             "the choices, sorted by expert, do not fit into memory",
                             "fewer tokens per call"));
    }
    return memory;
  }

  // Each number once; then those that were read are looked at.
  void read() {
    const int64_t outer = used_stride(experts_.spec, 0);
    const int64_t inner = used_stride(experts_.spec, 1);
    const auto* const memory = static_cast<const std::byte*>(experts_.data);
    with_index_type(experts_.spec.dtype, [&](auto zero) {
      run_ranges(kMoePermute, count_, saturating_mul(count_, sizeof(KeyedEntry)), queue_,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t at = i / choices_ * outer + i % choices_ * inner;
                     entries_.get()[i] = {widen(load_index<decltype(zero)>(memory, at)), i};
                   }
                 });
    });
    int64_t largest = -1;
    for (int64_t i = 0; i < count_; ++i) {
      largest = std::max(largest, key(i));
    }
    number_ = request_.options.experts >= 0 ? request_.options.experts
                                            : std::min(largest, kMostExperts - 1) + 1;
    for (int64_t i = 0; i < count_; ++i) {
      if (key(i) < 0 || key(i) >= number_) {
        refuse_expert(i);
      }
    }
  }

  int64_t key(int64_t i) const { return entries_.get()[i].key; }

  [[noreturn]] void refuse_expert(int64_t i) const {
    int64_t bad = 0;
    for (int64_t j = i; j < count_; ++j) {
      bad += key(j) < 0 || key(j) >= number_ ? 1 : 0;
    }
    throw_bad_expert(request_, number_, i, std::to_string(key(i)), bad);
  }

  // What is behind the capacity is dropped; rows close up.
  MoeRouting placed(const KeyedEntry* sorted) const {
    Array offsets(TensorSpec(i64, {number_ + 1}));
    Array inverse(TensorSpec(i64, experts_.spec.sizes));
    int64_t* const begins = offsets.elements<int64_t>().data();
    int64_t* const row_of = inverse.elements<int64_t>().data();
    const int64_t capacity = request_.options.capacity < 0 ? count_ : request_.options.capacity;
    CancelPoint cancel(current_cancel_scope());
    int64_t rows = 0;
    int64_t next = 0;
    for (int64_t expert = 0; expert < number_ && !cancel.before(sizeof(KeyedEntry)); ++expert) {
      begins[expert] = rows;
      for (int64_t room = capacity; next < count_ && sorted[next].key == expert; ++next) {
        row_of[sorted[next].entry] = room > 0 ? rows : -1;
        rows += room > 0 ? 1 : 0;
        --room;
      }
    }
    begins[number_] = rows;
    throw_if_cancelled(current_cancel_scope(), kMoePermute);
    Array sources(TensorSpec(i64, {rows}));
    int64_t* const source_of = sources.elements<int64_t>().data();
    run_ranges(kMoePermute, count_, saturating_mul(count_, sizeof(KeyedEntry)), queue_,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   if (row_of[i] >= 0) {
                     source_of[row_of[i]] = i / choices_;
                   }
                 }
               });
    return {std::move(sources), std::move(inverse), std::move(offsets)};
  }

  const ConstTensor& experts_;
  MoeRequest request_;
  Queue queue_;
  int64_t choices_ = 0, count_ = 0, number_ = 0;
  std::unique_ptr<KeyedEntry[]> entries_, spare_;
};

}  // namespace

MoeRouting moe_route(const ConstTensor& experts, const MoeOptions& options, const RunOptions& run) {
  return Router(experts, options, run).route();
}

}  // namespace sheaf

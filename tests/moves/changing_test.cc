// SPDX-License-Identifier: MIT
//
// Values that another thread changes while a move looks at them never lead outside a buffer: each
// tensor lies between pages that may not be touched, and what is written names what is there.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "helpers/guarded.h"
#include "sheaf/move.h"

namespace sheaf {
namespace {

constexpr auto kTimePerMove = std::chrono::milliseconds(150);
constexpr int kLeastRuns = 20;

// A tensor whose last byte is the last that may be touched, or its first the first.
struct GuardedMove {
  GuardedMove(const TensorSpec& tensor_spec, Flush flush)
      : spec(tensor_spec),
        bytes(static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes())),
        memory(bytes),
        data(memory.part(bytes, flush).data()) {}
  Tensor tensor() const { return {data, spec}; }
  template <class T>
  T at(int64_t i) const {
    return std::atomic_ref(reinterpret_cast<T*>(data)[i]).load(std::memory_order_relaxed);
  }

  TensorSpec spec;
  size_t bytes;
  GuardedMemory memory;
  std::byte* data;
};

// Writes one value after the other over the elements, a few at a time, until it goes.
template <class T>
class ValueFlipper {
 public:
  ValueFlipper(const GuardedMove& target, std::vector<T> values)
      : elements_(reinterpret_cast<T*>(target.data)),
        count_(element_count(target.spec.sizes)),
        values_(std::move(values)),
        thread_([this] { run(); }) {}
  ~ValueFlipper() {
    stop_ = true;
    thread_.join();
  }
  ValueFlipper(const ValueFlipper&) = delete;
  ValueFlipper& operator=(const ValueFlipper&) = delete;

 private:
  void run() {
    for (size_t turn = 0; !stop_; ++turn) {
      for (int64_t i = static_cast<int64_t>(turn % 5); i < count_ && !stop_; i += 5) {
        const T value = values_[(turn + static_cast<size_t>(i)) % values_.size()];
        std::atomic_ref(elements_[i]).store(value, std::memory_order_relaxed);
      }
    }
  }

  T* elements_;
  int64_t count_;
  std::vector<T> values_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

void run_for_a_while(const std::function<void()>& call) {
  const auto end = std::chrono::steady_clock::now() + kTimePerMove;
  for (int runs = 0; runs < kLeastRuns || std::chrono::steady_clock::now() < end; ++runs) {
    call();
  }
}

const std::vector<int64_t> kHostile = {
    0, 3, -1, 7, 8, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};

class ChangingValues : public testing::TestWithParam<Flush> {};

// Long enough for several parts, which are counted first and written then.
TEST_P(ChangingValues, ElementsThatAreCountedAndWritten) {
  constexpr int64_t kRows = 650, kColumns = 307;
  const GuardedMove from(TensorSpec(i32, {kRows, kColumns}), GetParam());
  const GuardedMove to(TensorSpec(i32, {kRows * kColumns, 2}), GetParam());
  const ValueFlipper<int32_t> flipper(from, {0, 1, 0, 0, 5, 0, 2});
  run_for_a_while([&] {
    fill(to.tensor(), -1);
    const int64_t count = nonzero(from.tensor(), to.tensor());
    ASSERT_GE(count, 0);
    ASSERT_LE(count, kRows * kColumns);
    for (int64_t i = 0; i < count; ++i) {  // whatever was found, it is an element
      ASSERT_LT(static_cast<uint32_t>(to.at<int32_t>(2 * i)), uint32_t{kRows});
      ASSERT_LT(static_cast<uint32_t>(to.at<int32_t>(2 * i + 1)), uint32_t{kColumns});
    }
  });
}

TEST_P(ChangingValues, LengthsOfSequences) {
  const GuardedMove from(TensorSpec(i32, {300, 8}), GetParam());
  const GuardedMove lengths(TensorSpec(i64, {300, 1}), GetParam());
  const GuardedMove to(TensorSpec(i32, {300, 8}), GetParam());
  fill_sequence(from.tensor(), 0, 1);
  const ValueFlipper<int64_t> flipper(lengths, kHostile);
  run_for_a_while([&] {
    reverse_subsequences(from.tensor(), lengths.tensor(), to.tensor(), 1);
    for (int64_t i = 0; i < 300 * 8; ++i) {
      ASSERT_EQ(to.at<int32_t>(i) / 8, i / 8) << "from another sequence";
    }
  });
}

TEST_P(ChangingValues, IndicesOfOneHot) {
  const GuardedMove indices(TensorSpec(i64, {300, 1}), GetParam());
  const GuardedMove to(TensorSpec(f32, {300, 8}), GetParam());
  const std::vector<float> off_on = {0, 1};
  const ValueFlipper<int64_t> flipper(indices, kHostile);
  run_for_a_while([&] {
    one_hot(indices.tensor(), view(off_on), to.tensor(), 1);
    for (int64_t row = 0; row < 300; ++row) {
      float sum = 0;
      for (int64_t column = 0; column < 8; ++column) {
        sum += to.at<float>(row * 8 + column);
      }
      ASSERT_LE(sum, 1);
    }
  });
}

TEST_P(ChangingValues, ValuesThatAreSorted) {
  const GuardedMove from(TensorSpec(f32, {100, 200}), GetParam());
  const GuardedMove values(TensorSpec(f32, {100, 9}), GetParam());
  const GuardedMove places(TensorSpec(u8, {100, 9}), GetParam());
  const ValueFlipper<float> flipper(
      from, {0, 1, -1, std::numeric_limits<float>::quiet_NaN(), 3, 1e30F, 2, -5});
  run_for_a_while([&] {
    top_k(from.tensor(), values.tensor(), places.tensor(), 1);
    for (int64_t row = 0; row < 100; ++row) {
      for (int64_t i = 0; i < 9; ++i) {
        ASSERT_LT(places.at<uint8_t>(row * 9 + i), 200);
        for (int64_t j = 0; j < i; ++j) {
          ASSERT_NE(places.at<uint8_t>(row * 9 + i), places.at<uint8_t>(row * 9 + j));
        }
      }
    }
  });
}

TEST_P(ChangingValues, NumbersThatAreConverted) {
  const GuardedMove from(TensorSpec(f64, {5000}), GetParam());
  const GuardedMove to(TensorSpec(i8, {5000}), GetParam());
  const ValueFlipper<double> flipper(from, {0, 1e300, -1e300, 5.5});
  run_for_a_while([&] { cast(from.tensor(), to.tensor()); });
}

INSTANTIATE_TEST_SUITE_P(Ends, ChangingValues, testing::Values(Flush::kFront, Flush::kBack),
                         [](const auto& flush) {
                           return flush.param == Flush::kFront ? "front" : "back";
                         });

}  // namespace
}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// Plans by the shapes of a node's inputs. Most nodes see one shape, some a few, a growing cache a
// new one per run.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tensors.h"

namespace sheaf::ort {

template <class Plan>
class KeptPlans {
 public:
  // The plan for inputs of these types and shapes: a kept one, or what make() returns. What make()
  // throws is not kept.
  template <class Make>
  std::shared_ptr<const Plan> find(std::span<const Input> inputs, const Make& make) {
    if (auto kept = look_up(inputs); kept != nullptr) {
      return kept;
    }
    auto made = std::make_shared<const Plan>(make());  // may take long: without the lock
    keep(inputs, made);
    return made;
  }

 private:
  static constexpr size_t kPlans = 8;

  struct Entry {
    std::vector<Input> inputs;  // without their memory
    std::shared_ptr<const Plan> plan;
  };

  static bool fits(const Entry& entry, std::span<const Input> inputs) {
    return entry.plan != nullptr &&
           std::equal(inputs.begin(), inputs.end(), entry.inputs.begin(), entry.inputs.end(),
                      [](const Input& a, const Input& b) {
                        return a.type == b.type && a.sizes == b.sizes;
                      });
  }

  std::shared_ptr<const Plan> look_up(std::span<const Input> inputs) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (fits(entry, inputs)) {
        return entry.plan;
      }
    }
    return nullptr;
  }

  void keep(std::span<const Input> inputs, std::shared_ptr<const Plan> plan) {
    std::vector<Input> key(inputs.begin(), inputs.end());
    for (Input& input : key) {
      input.data = nullptr;
    }
    const std::lock_guard lock(mutex_);
    entries_[oldest_] = {std::move(key), std::move(plan)};
    oldest_ = (oldest_ + 1) % kPlans;
  }

  std::mutex mutex_;
  std::array<Entry, kPlans> entries_;
  size_t oldest_ = 0;
};

}  // namespace sheaf::ort

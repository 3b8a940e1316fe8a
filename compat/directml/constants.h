// SPDX-License-Identifier: MIT
//
// The constant data of a graph, where a queue can read it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sheaf/queue.h"

namespace sheaf::dml_com {

class Constants {
 public:
  // The bytes of the next node, empty if it has none. They stay where they are as long as this
  // lives. Not after on() was called.
  void add(std::span<const std::byte> bytes) { host_.push_back(bytes); }

  // Their addresses in memory of the queue, one for each node. A device gets its copy before its
  // first run; many threads may ask at once.
  std::vector<const std::byte*> on(const Queue& queue) const {
    std::vector<const std::byte*> addresses;
    for (const auto& bytes : host_) {
      addresses.push_back(bytes.data());
    }
    if (queue.device.empty()) {
      return addresses;
    }
    const std::lock_guard lock(mutex_);
    auto& there = devices_[std::string(queue.device)];
    for (size_t i = 0; i < host_.size(); ++i) {
      if (i == there.size()) {  // not yet; nor if the last try found no memory
        DeviceMemory memory(queue.device, host_[i].size());
        memory.upload(host_[i].data(), host_[i].size());
        there.push_back(std::move(memory));
      }
      addresses[i] = there[i].data();
    }
    return addresses;
  }

 private:
  std::vector<std::span<const std::byte>> host_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::vector<DeviceMemory>> devices_;
};

}  // namespace sheaf::dml_com

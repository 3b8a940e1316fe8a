// SPDX-License-Identifier: MIT
//
// The provider of one session: which nodes it takes, and the kernels for them.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "api.h"

namespace sheaf::ort {

inline constexpr const char* kProviderName = "SheafExecutionProvider";

class SheafEp final : public Ep {
 public:
  explicit SheafEp(const Api& api);
  ~SheafEp();
  SheafEp(const SheafEp&) = delete;
  SheafEp& operator=(const SheafEp&) = delete;

 private:
  struct Registration;  // what the runtime hands back to make a kernel

  void take_nodes(const Graph* graph, GraphSupport* support);
  void register_kernels();

  const Api& api_;
  KernelRegistry* registry_ = nullptr;
  std::vector<Registration> registrations_;
  // Outputs of graphs, by name: a caller can give memory for them.
  std::unordered_set<std::string> outputs_;
};

}  // namespace sheaf::ort

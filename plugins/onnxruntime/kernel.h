// SPDX-License-Identifier: MIT
//
// A node as the runtime calls it. No exception crosses this border: it becomes a status.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "frontends/onnx/bad_node.h"
#include "support/text.h"
#include "tensors.h"

namespace sheaf::ort {

class Kernel : public KernelImpl {
 public:
  explicit Kernel(const Api& api);
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // May be called by several threads at once. Runs on the threads of the runtime.
  virtual void run(const Context& context) = 0;

 private:
  const Api& api_;
};

// Calls work(), which may find that the node is not as ONNX wants it: that is then said of `op`.
template <class Work>
auto in_words_of(const char* op, const Work& work) {
  try {
    return work();
  } catch (const onnx::BadNode& bad) {
    throw Failure(kInvalidArgumentError, cat(op, ": ", bad.what(), "\n  try: ", bad.next()));
  }
}

// What a kernel is made of.
struct MakeKernel {
  const NodeInfo& node;
  // The output may be memory of the caller's, who sees it after a failed run, too.
  bool caller_sees_output;
};

}  // namespace sheaf::ort

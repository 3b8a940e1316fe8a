// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "helpers/device.h"
#include "helpers/guarded_tensor.h"

namespace {

using sheaf::WorkspaceView;

constexpr size_t kGuard = 256;
constexpr std::byte kPattern{0xC3};

// A tensor, and where its `around` begins on the device.
struct Part {
  const char* name;
  Memory host;
  size_t alignment;  // that a GPU needs for it
  std::byte* device = nullptr;

  // How far behind a multiple of 16, the widest load there is, `around` has to begin: as on the
  // host, but for the alignment.
  size_t shift() const {
    const size_t shift = reinterpret_cast<uintptr_t>(host.around.data()) % 16;
    const auto first = shift + static_cast<size_t>(host.first - host.around.data());
    return (shift + 16 - first % alignment) % 16;
  }

  std::byte* first() const {
    return host.first == nullptr ? nullptr : device + (host.first - host.around.data());
  }
};

// Elements that are only moved may lie anywhere.
size_t element_alignment(const sheaf::Plan& plan) {
  return plan.nest().reduction == sheaf::Reduction::kNone
             ? 1
             : static_cast<size_t>(std::min<int64_t>(plan.data().dtype.bytes(), 8));
}

struct Parts {
  Part data, indices, updates, output;
  bool in_place;

  Parts(const sheaf::Plan& plan, const Memories& m)
      : data{"data", m.data, element_alignment(plan)},
        indices{"indices", m.indices, static_cast<size_t>(plan.indices().dtype.bytes())},
        updates{"updates", m.updates, element_alignment(plan)},
        output{"output", m.output, element_alignment(plan)},
        in_place(m.data.first != nullptr && m.data.first == m.output.first) {}

  // Each that needs memory of its own.
  std::vector<Part*> all() {
    std::vector<Part*> parts = {&indices, &updates, &output};
    if (!in_place) {
      parts.push_back(&data);
    }
    return parts;
  }
};

void launch_asked(const sheaf::Plan& plan, const Parts& p, WorkspaceView workspace,
                  const DeviceStream& stream, const sheaf::RunOptions& options) {
  const std::byte* data = p.in_place ? p.output.first() : p.data.first();
  const sheaf::Queue queue = device_queue(workspace, stream);
  if (plan.is_scatter()) {
    sheaf::run(plan, data, p.indices.first(), p.updates.first(), p.output.first(), queue, options);
  } else {
    sheaf::run(plan, data, p.indices.first(), p.output.first(), queue, options);
  }
}

// kernels() takes all addresses for aligned. Where they are not, a kernel may refuse them; then the
// one that is chosen runs.
void launch(const sheaf::Plan& plan, const Parts& p, WorkspaceView workspace,
            const DeviceStream& stream, const sheaf::RunOptions& options) {
  try {
    launch_asked(plan, p, workspace, stream, options);
  } catch (const sheaf::Error& error) {
    const auto addresses =
        reinterpret_cast<uintptr_t>(p.data.first()) | reinterpret_cast<uintptr_t>(p.output.first());
    if (error.code() != sheaf::ErrorCode::kUnsupported || addresses % 16 == 0) {
      throw;
    }
    sheaf::RunOptions any = options;
    any.kernel = {};
    launch_asked(plan, p, workspace, stream, any);
  }
}

// What check() throws about an index: to be thrown on when the output has been looked at.
std::exception_ptr bad_index(const sheaf::Plan& plan, WorkspaceView workspace,
                             const DeviceStream& stream) {
  try {
    sheaf::finish(plan, device_queue(workspace, stream));
  } catch (const sheaf::IndexError&) {
    return std::current_exception();
  }
  return nullptr;
}

size_t workspace_bytes_of(const sheaf::Plan& plan, const sheaf::RunOptions& options) {
  return sheaf::workspace_bytes(plan, {.device = test_device()}, options);
}

class Gpu : public Machine {
 public:
  std::vector<std::string> kernels(const sheaf::Plan& plan) const override {
    std::vector<std::string> names;
    for (const sheaf::KernelReport& report : sheaf::kernels_for(plan, {.device = test_device()})) {
      if (report.refusal.empty()) {
        names.push_back(report.name);
      }
    }
    return names;
  }

  std::vector<int> threads() const override { return {0}; }
  uint64_t one_in() const override { return one_in_; }

 protected:
  DeviceStream stream_;

 private:
  uint64_t one_in_ = from_environment("SHEAF_TEST_ONE_IN", 13);
};

// All tensors in one piece of memory, which is kept: one copy there and one back for each run.
class GpuTogether : public Gpu {
 public:
  void run(const sheaf::Plan& plan, const Memories& memories,
           const sheaf::RunOptions& options) const override {
    Parts parts(plan, memories);
    const size_t workspace_bytes = workspace_bytes_of(plan, options);
    const size_t end = lay_out(parts, workspace_bytes);
    stage(parts, workspace_bytes, end);
    const size_t staged = end - workspace_bytes;
    stream_.upload(device_->data() + workspace_bytes, sent_->data(), staged);
    const WorkspaceView workspace{workspace_bytes > 0 ? device_->data() : nullptr, workspace_bytes};
    launch(plan, parts, workspace, stream_, options);
    stream_.download(came_->data(), device_->data() + workspace_bytes, staged);
    const std::exception_ptr refusal = bad_index(plan, workspace, stream_);
    stream_.wait();
    if (const std::string stray = fetch(parts, workspace_bytes, staged); !stray.empty()) {
      ADD_FAILURE() << options.kernel << " wrote outside the output, " << stray << "\n"
                    << plan.str();
    }
    if (refusal) {
      std::rethrow_exception(refusal);
    }
  }

 private:
  // Workspace, guard, tensor, guard, tensor, guard ... Returns the end of all.
  size_t lay_out(Parts& parts, size_t workspace_bytes) const {
    size_t end = workspace_bytes + kGuard;
    std::vector<size_t> starts;
    for (const Part* part : parts.all()) {
      starts.push_back((end + 15) / 16 * 16 + part->shift());
      end = starts.back() + part->host.around.size() + kGuard;
    }
    reserve(end);
    for (size_t i = 0; i < starts.size(); ++i) {
      parts.all()[i]->device = device_->data() + starts[i];
    }
    return end;
  }

  void reserve(size_t bytes) const {
    stream_.wait();  // a run that was refused may have left a copy under way
    if (!device_ || device_->bytes() < bytes) {
      device_.reset();
      device_.emplace(test_device(), 2 * bytes);
      sent_ = std::make_unique<PinnedMemory>(2 * bytes);
      came_ = std::make_unique<PinnedMemory>(2 * bytes);
    }
  }

  void stage(Parts& parts, size_t workspace_bytes, size_t end) const {
    std::memset(sent_->data(), static_cast<int>(kPattern), end - workspace_bytes);
    for (const Part* part : parts.all()) {
      std::copy(part->host.around.begin(), part->host.around.end(),
                staged(*sent_, *part, workspace_bytes));
    }
  }

  std::byte* staged(const PinnedMemory& memory, const Part& part, size_t workspace_bytes) const {
    return memory.data() + (part.device - device_->data()) - workspace_bytes;
  }

  // Brings the output home. Everything else has to be as it was sent; returns what is not.
  std::string fetch(Parts& parts, size_t workspace_bytes, size_t bytes) const {
    const std::byte* output = staged(*came_, parts.output, workspace_bytes);
    const size_t output_bytes = parts.output.host.around.size();
    std::copy(output, output + output_bytes, parts.output.host.around.begin());
    std::memcpy(staged(*sent_, parts.output, workspace_bytes), output, output_bytes);
    if (std::memcmp(sent_->data(), came_->data(), bytes) == 0) {
      return "";
    }
    const auto wrong = std::mismatch(came_->data(), came_->data() + bytes, sent_->data()).first;
    return place(parts, wrong, workspace_bytes);
  }

  std::string place(Parts& parts, const std::byte* wrong, size_t workspace_bytes) const {
    std::string text = std::to_string(wrong - came_->data()) + " bytes behind the workspace";
    for (const Part* part : parts.all()) {
      text += std::string(", ") + part->name + " + " +
              std::to_string(wrong - staged(*came_, *part, workspace_bytes));
    }
    return text;
  }

  mutable std::optional<sheaf::DeviceMemory> device_;
  mutable std::unique_ptr<PinnedMemory> sent_, came_;
};

class GpuApart : public Gpu {
 public:
  void run(const sheaf::Plan& plan, const Memories& memories,
           const sheaf::RunOptions& options) const override {
    Parts parts(plan, memories);
    std::vector<sheaf::DeviceMemory> pieces;
    for (Part* part : parts.all()) {
      const size_t shift = part->shift();
      pieces.emplace_back(test_device(), shift + part->host.around.size());
      pieces.back().upload(part->host.around.data(), part->host.around.size(), shift);
      part->device = pieces.back().data() + shift;
    }
    const sheaf::DeviceMemory workspace(test_device(), workspace_bytes_of(plan, options));
    launch(plan, parts, workspace, stream_, options);
    const std::exception_ptr refusal = bad_index(plan, workspace, stream_);
    stream_.wait();
    for (size_t i = 0; i < pieces.size(); ++i) {
      fetch(*parts.all()[i], pieces[i], parts.all()[i] == &parts.output);
    }
    if (refusal) {
      std::rethrow_exception(refusal);
    }
  }

 private:
  static void fetch(const Part& part, const sheaf::DeviceMemory& piece, bool is_output) {
    const auto around = part.host.around;
    std::vector<std::byte> came(around.size());
    piece.download(came.data(), came.size(), part.shift());
    if (is_output) {
      std::copy(came.begin(), came.end(), around.begin());
    } else {
      EXPECT_TRUE(std::equal(came.begin(), came.end(), around.begin())) << part.name << " written";
    }
  }
};

}  // namespace

const Machine& gpu() {
  // Never destroyed: at the end of the program the driver may be gone before it.
  static const Machine* const machine = from_environment("SHEAF_TEST_APART", 0) != 0
                                            ? static_cast<const Machine*>(new GpuApart)
                                            : new GpuTogether;
  return *machine;
}

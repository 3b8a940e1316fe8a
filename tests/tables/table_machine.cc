// SPDX-License-Identifier: MIT
#include "tables/table_machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "io/scratch.h"
#include "plan/request.h"
#include "tables/table_device.h"

namespace {

using namespace sheaf;

// Not a multiple of anything: rows lie across blocks.
constexpr int64_t kFileOffset = 1001;

struct Variant {
  std::string way, remark;
};

Variant variant_of(std::string_view kernel) {
  const size_t slash = kernel.find('/');
  return slash == std::string_view::npos
             ? Variant{std::string(kernel), ""}
             : Variant{std::string(kernel.substr(0, slash)), std::string(kernel.substr(slash + 1))};
}

// A tensor of the test in memory of the device: where it stands in its 16 bytes as on the host, or
// with its first element at a multiple of `alignment`.
class OnDevice {
 public:
  explicit OnDevice(const Memory& host, int64_t alignment = 1)
      : host_(host),
        shift_(aligned_shift(host, static_cast<uintptr_t>(alignment))),
        memory_(table_device(), host.around.size() + 32) {
    memory_.upload(host.around.data(), host.around.size(), shift_);
  }
  std::byte* first() const {
    return host_.first == nullptr ? nullptr
                                  : memory_.data() + shift_ + (host_.first - host_.around.data());
  }
  void read_back() const { memory_.download(host_.around.data(), host_.around.size(), shift_); }

 private:
  static size_t aligned_shift(const Memory& host, uintptr_t alignment) {
    const uintptr_t shift = reinterpret_cast<uintptr_t>(host.around.data()) % 16;
    const auto first = static_cast<uintptr_t>(host.first - host.around.data());
    return shift + (alignment - (shift + first) % alignment) % alignment;
  }

  Memory host_;
  size_t shift_;
  DeviceMemory memory_;
};

// The plan's data without gaps, and the plan that reads it so.
struct Packed {
  Array data;
  Plan plan;
};

Packed packed(const Plan& plan, const Memory& data) {
  const TensorSpec spec(plan.data().dtype, plan.data().sizes);
  Request request = plan.request();
  request.data = spec;
  Packed result{Array(spec), make_plan(request)};
  if (element_count(spec.sizes) > 0 && data.first != nullptr) {
    plan_gather_nd(plan.data(), TensorSpec(i64, {0}), spec)
        .run(data.first, nullptr, result.data.tensor().data);
  }
  return result;
}

// A scatter of the test as one into a table: in place, on packed data. The result goes where the
// test looks for it only if nothing was thrown; then the table must be as it was.
class TableScatter {
 public:
  TableScatter(const Plan& plan, const Memories& m)
      : plan_(plan), ready_(in_place(plan)), m_(m), before_(packed(plan, m.data).data) {}

  void run(const Variant& variant, const Scratch& scratch) {
    const ConstTensor data = std::as_const(before_).tensor();
    const auto bytes =
        static_cast<size_t>(element_count(data.spec.sizes) * data.spec.dtype.bytes());
    auto* const first = static_cast<std::byte*>(const_cast<void*>(data.data));
    std::vector<std::byte> after(first, first + bytes);
    const Memory target{bytes == 0 ? nullptr : after.data(), after};
    if (variant.way == "scatter on host") {
      start(Table::host_writable({target.first, data.spec}, nullptr).with(options_of(variant)),
            variant);
    } else if (variant.way == "scatter on device") {
      const OnDevice there(target, 16);
      const Table table =
          Table::device_writable(table_device(), {there.first(), data.spec}, nullptr);
      try {
        start(table, variant);
      } catch (const Error&) {
        there.read_back();
        EXPECT_TRUE(std::equal(after.begin(), after.end(), first)) << "a refused scatter wrote";
        throw;
      }
      there.read_back();
    } else {
      const std::string path = scratch.path("scattered.bin");
      std::ofstream(path, std::ios::binary)
          << std::string(kFileOffset, 'x') << std::string(reinterpret_cast<char*>(first), bytes);
      const Table table = open_raw(path, data.spec, kFileOffset);
      start(table, variant);
      table.read(0, after.data(), std::ssize(after));
    }
    if (bytes > 0) {
      plan_gather_nd(data.spec, TensorSpec(i64, {0}), plan_.output())
          .run(after.data(), nullptr, m_.output.first);
    }
  }

 private:
  static Plan in_place(const Plan& plan) {
    Request request = plan.request();
    request.data = TensorSpec(plan.data().dtype, plan.data().sizes);
    request.set_output(request.data);
    return make_plan(request);
  }
  static TableOptions options_of(const Variant& variant) {
    return {.piece_bytes = variant.remark == "rows" ? smallest_piece() : 4096,
            .pieces = 2,
            .cache_bytes = variant.remark == "rows" ? 0 : 1024};
  }
  void start(const Table& table, const Variant& variant) const {
    if (variant.remark == "from host") {
      run_scatter(ready_, table, m_.indices.first, m_.updates.first, {.threads = 2});
      return;
    }
    const Queue queue{.device = table_device()};
    if (variant.remark == "host inputs") {
      run_scatter(ready_, table, m_.indices.first, m_.updates.first, queue, IndexPlace::kHost);
    } else {
      const OnDevice indices(m_.indices, ready_.indices().dtype.bytes());
      const OnDevice updates(m_.updates, 16);
      run_scatter(ready_, table, indices.first(), updates.first(), queue);
      finish(ready_, table, queue);
      return;
    }
    finish(ready_, table, queue);
  }

  const Plan& plan_;
  Plan ready_;
  const Memories& m_;
  Array before_;
};

class TableMachine final : public Machine {
 public:
  std::vector<std::string> kernels(const Plan& plan) const override {
    if (plan.is_scatter()) {
      return {"scatter on host",
              "scatter on host/rows",
              "scatter on host/host inputs",
              "scatter on host/from host",
              "scatter on device",
              "scatter on device/host inputs",
              "scatter on device/from host",
              "scatter into a file",
              "scatter into a file/from host"};
    }
    std::vector<std::string> all = {"host",
                                    "file",
                                    "file/host indices",
                                    "download",
                                    "download/rows",
                                    "device",
                                    "device/host indices",
                                    "ring",
                                    "ring/rows",
                                    "ring/again",
                                    "ring/cached",
                                    "ring/host indices",
                                    "file/device",
                                    "file/device rows"};
    if (table_device_is_stand_in()) {
      all.insert(all.end(), {"mapped", "mapped/host indices", "split", "split/rows"});
    }
    return all;
  }
  std::vector<int> threads() const override { return {1}; }

  void run(const Plan& plan, const Memories& m, const RunOptions& options) const override {
    const Variant variant = variant_of(options.kernel);
    if (plan.is_scatter()) {
      TableScatter(plan, m).run(variant, scratch_);
      return;
    }
    const bool strided = plan.ranges().data.lo >= 0 && variant.way != "file";
    Packed dense = packed(plan, m.data);
    const Plan& ready = strided ? plan : dense.plan;
    const ConstTensor data =
        strided ? ConstTensor{m.data.first, plan.data()} : std::as_const(dense.data).tensor();
    std::optional<OnDevice> on_device;
    if (variant.way == "device" || variant.way == "download") {
      const ByteRange range = ready.ranges().data;
      auto* const first = static_cast<std::byte*>(const_cast<void*>(data.data));
      on_device.emplace(Memory{first, {first, static_cast<size_t>(range.hi)}});
    }
    const Table table =
        table_of(variant, data, on_device ? on_device->first() : nullptr)
            .with({.way = variant.way == "file" ? "" : variant.way,
                   .piece_bytes = variant.remark.ends_with("rows") ? smallest_piece() : 4096,
                   .pieces = 2,
                   .lock = variant.way == "mapped" || variant.way == "split",
                   .file = {.memory = 1 << 20},
                   .cache_bytes = variant.remark == "cached" ? 2048 : 0});
    const bool to_host = variant.way == "host" || variant.way == "download" ||
                         (variant.way == "file" && !variant.remark.starts_with("device"));
    to_host ? run_to_host(ready, table, m) : run_to_device(ready, table, m, variant.remark);
  }

 private:
  Table table_of(const Variant& variant, const ConstTensor& data, const void* on_device) const {
    if (on_device != nullptr) {
      return Table::device(table_device(), {on_device, data.spec}, nullptr);
    }
    if (variant.way != "file") {
      return Table::host(data, nullptr);
    }
    const auto count =
        static_cast<size_t>(element_count(data.spec.sizes) * data.spec.dtype.bytes());
    const std::string path = scratch_.path("table.bin");
    std::ofstream(path, std::ios::binary)
        << std::string(kFileOffset, 'x') << std::string(static_cast<const char*>(data.data), count)
        << "tail";
    return open_raw(path, data.spec, kFileOffset);
  }

  static void run_to_host(const Plan& plan, const Table& table, const Memories& m) {
    sheaf::run(plan, table, m.indices.first, m.output.first, {.threads = 2});
  }

  static void run_to_device(const Plan& plan, const Table& table, const Memories& m,
                            const std::string& remark) {
    const bool host_indices = remark == "host indices";
    const OnDevice indices(m.indices, plan.indices().dtype.bytes());
    const OnDevice output(m.output);
    const Queue queue{.device = table_device()};
    try {
      for (int call = 0; call < (remark == "again" || remark == "cached" ? 2 : 1); ++call) {
        sheaf::run(plan, table, host_indices ? m.indices.first : indices.first(), output.first(),
                   queue, host_indices ? IndexPlace::kHost : IndexPlace::kQueue);
      }
      finish(plan, table, queue);
    } catch (const Error&) {
      wait(queue);
      output.read_back();
      throw;
    }
    output.read_back();
  }

  Scratch scratch_;
};

}  // namespace

const Machine& table_machine() {
  static const TableMachine machine;
  return machine;
}

// SPDX-License-Identifier: MIT
#include "helpers/table_world.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "helpers/deferred_device.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;
using Bytes = std::vector<std::byte>;

constexpr std::byte kUntouched{0xEE};

// What one call did: bytes that it wrote, or its error.
struct Result {
  Bytes bytes;
  std::string error;
  bool operator==(const Result&) const = default;
};

class TableWorld {
 public:
  explicit TableWorld(const std::function<int64_t(int64_t, int64_t)>& from)
      : from_(from),
        type_(pick({i32, f32, u8, i64})),
        spec_(type_, {from_(1, 40), from_(1, 9)}),
        plain_(values(element_count(spec_.sizes))),
        memory_(plain_),
        on_device_(kDeferred, memory_.size()) {
    on_device_.upload(memory_.data(), memory_.size());
    const bool there = from_(0, 3) == 0;
    const Table first = there
                            ? Table::device_writable(kDeferred, {on_device_.data(), spec_}, nullptr)
                            : Table::host_writable({memory_.data(), spec_}, nullptr);
    place_ = first.place();
    tables_ = {first.with(options()), first.with(options())};
  }
  ~TableWorld() {
    for (void* const stream : {static_cast<void*>(nullptr), static_cast<void*>(&streams_)}) {
      wait({.device = kDeferred, .stream = stream});
    }
  }
  TableWorld(const TableWorld&) = delete;
  TableWorld& operator=(const TableWorld&) = delete;

  std::string run() {
    const int64_t steps = from_(1, 12);
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t kind = from_(0, 9);
      const std::string trouble = kind < 4   ? gather()
                                  : kind < 7 ? scatter()
                                  : kind < 9 ? bag()
                                             : "";
      if (kind == 9) {
        forget_cached_rows(table());
      }
      if (!trouble.empty()) {
        return trouble;
      }
    }
    return "";
  }

 private:
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + from_(0, static_cast<int64_t>(values.size()) - 1));
  }
  const Table& table() { return tables_[static_cast<size_t>(from_(0, 1))]; }
  // Ways that are forced are ways to a device.
  bool takes_host_queues(const Table& table) const {
    return place_ != TablePlace::kHost || !forced_[static_cast<size_t>(&table - tables_.data())];
  }

  TableOptions options() {
    TableOptions options{.piece_bytes = from_(1, 400), .pieces = static_cast<int>(from_(1, 3))};
    const int64_t row_bytes = spec_.sizes[1] * type_.bytes();
    options.threads = static_cast<int>(from_(0, 2));
    options.lock = from_(0, 1) == 1;
    options.cache_bytes = from_(0, 1) * from_(0, spec_.sizes[0] + 1) * row_bytes;
    if (options.cache_bytes > 0 && from_(0, 3) == 0) {
      options.cached_rows = {from_(0, spec_.sizes[0] - 1), from_(0, spec_.sizes[0] - 1)};
    }
    if (place_ == TablePlace::kHost && options.lock && options.cache_bytes == 0) {
      options.way = pick<const char*>({"", "mapped", "split", "ring"});
    }
    forced_.push_back(!options.way.empty());
    return options;
  }

  Bytes values(int64_t count) {
    Bytes bytes(static_cast<size_t>(count * type_.bytes()));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = from_(0, 20);
      std::byte* const at = bytes.data() + i * type_.bytes();
      if (type_ == f32) {
        const float value = static_cast<float>(number) / 3;
        std::memcpy(at, &value, sizeof value);
      } else {
        std::memcpy(at, &number, static_cast<size_t>(type_.bytes()));
      }
    }
    return bytes;
  }

  std::vector<int64_t> ids(int64_t extent) {
    std::vector<int64_t> all(static_cast<size_t>(from_(0, 60)));
    const bool wild = from_(0, 3) == 0;
    for (int64_t& id : all) {
      id = wild ? from_(-2 * extent, 2 * extent) : from_(0, extent - 1);
    }
    return all;
  }

  IndexRule rule(OutOfRange special) {
    return {
        .negative = pick({Negative::kFromEnd, Negative::kOutOfRange}),
        .out_of_range = pick({OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap, special})};
  }

  // A queue, and where the inputs of the call are.
  struct Where {
    Queue queue;
    IndexPlace place = IndexPlace::kQueue;
    bool inputs_there() const { return !queue.device.empty() && place == IndexPlace::kQueue; }
  };
  Where where(bool device_only) {
    if (from_(0, 3) == 0 && !device_only) {
      return {{.threads = 2}};
    }
    void* const stream = from_(0, 1) == 0 ? nullptr : &streams_;
    return {{.device = kDeferred, .stream = stream},
            from_(0, 1) == 0 ? IndexPlace::kQueue : IndexPlace::kHost};
  }

  // The bytes in memory of the call, with its first at a multiple of 256.
  struct Input {
    Input(const void* from, size_t bytes, bool there) : host(from), memory(kDeferred, bytes) {
      if (there && bytes > 0) {
        memory.upload(from, bytes);
        host = memory.data();
      }
    }
    const void* host;
    DeviceMemory memory;
  };

  std::string gather() {
    const int64_t axis = from_(0, 5) == 0 ? 1 : 0;
    const std::vector<int64_t> rows = ids(spec_.sizes[static_cast<int>(axis)]);
    const Plan plan =
        plan_gather(spec_, view(rows).spec, {.axis = axis, .rule = rule(OutOfRange::kFill)});
    const auto bytes =
        static_cast<size_t>(element_count(plan.output().sizes) * plan.output().dtype.bytes());
    Result expected{Bytes(bytes, kUntouched), {}};
    try {
      plan.run(plain_.data(), rows.data(), expected.bytes.data());
    } catch (const IndexError& error) {
      expected.error = error.what();
    }
    const Table& from = table();
    const Where here = where(!takes_host_queues(from));
    const Input indices(rows.data(), rows.size() * 8, here.inputs_there());
    if (from_(0, 2) == 0) {
      prefetch(plan, from, indices.host, here.queue, here.place);
    }
    Result got{Bytes(bytes, kUntouched), {}};
    DeviceMemory output(kDeferred, bytes);
    const bool to_device = !here.queue.device.empty();
    if (bytes > 0) {
      output.upload(got.bytes.data(), bytes);
    }
    try {
      sheaf::run(plan, from, indices.host, to_device ? output.data() : got.bytes.data(), here.queue,
                 here.place);
      finish(plan, from, here.queue);
    } catch (const IndexError& error) {
      got.error = error.what();
    }
    if (to_device && bytes > 0) {
      wait(here.queue);
      output.download(got.bytes.data(), bytes);
    }
    return got == expected ? "" : told("gather", plan, from, got, expected);
  }

  // Bags of up to three rows. Where the rows lie on a device, it has no kernel for them.
  std::string bag() {
    const Table& from = table();
    if (place_ == TablePlace::kDevice || !takes_host_queues(from)) {
      return "";
    }
    const int64_t each = from_(0, 3);
    std::vector<int64_t> rows = ids(spec_.sizes[0]);
    const int64_t bags = each == 0 ? 2 : std::ssize(rows) / each;
    const BagPlan plan = plan_bag({spec_, TensorSpec(i64, {bags, each}), {}, {}},
                                  {.pool = pick({Pool::kSum, Pool::kMax, Pool::kMin, Pool::kMul}),
                                   .rule = rule(pick({OutOfRange::kFill, OutOfRange::kSkip}))});
    const auto bytes =
        static_cast<size_t>(element_count(plan.output().sizes) * plan.output().dtype.bytes());
    Result expected{Bytes(bytes, kUntouched), {}};
    Result got = expected;
    try {
      plan.run({.stored = plain_.data(), .indices = rows.data(), .output = expected.bytes.data()});
    } catch (const IndexError& error) {
      expected.error = error.what();
    }
    Where here = where(false);
    here.place = IndexPlace::kQueue;
    const Input indices(rows.data(), rows.size() * 8, here.inputs_there());
    const Input output(got.bytes.data(), bytes, here.inputs_there());
    try {
      sheaf::run(plan, from, {.indices = indices.host, .output = const_cast<void*>(output.host)},
                 here.queue);
      finish(plan, from, here.queue);
    } catch (const IndexError& error) {
      got.error = error.what();
    }
    if (here.inputs_there() && bytes > 0) {
      wait(here.queue);
      output.memory.download(got.bytes.data(), bytes);
    }
    return got == expected ? ""
                           : "a bag differs\n" + plan.str() + "\ngot " + got.error + "\nexpected " +
                                 expected.error + "\n";
  }

  std::string scatter() {
    const std::vector<int64_t> rows = ids(spec_.sizes[0]);
    const auto count = std::ssize(rows);
    const Bytes updates = values(count * spec_.sizes[1]);
    const Plan plan = plan_scatter(
        spec_, view(rows).spec, TensorSpec(type_, {count, spec_.sizes[1]}),
        {.reduction = pick({Reduction::kNone, Reduction::kAdd, Reduction::kSub, Reduction::kMul,
                            Reduction::kMin, Reduction::kMax, Reduction::kMean}),
         .include_self = from_(0, 3) != 0,
         .rule = rule(OutOfRange::kSkip)});
    Result expected{plain_, {}};
    try {
      plan.run(expected.bytes.data(), rows.data(), updates.data(), expected.bytes.data());
    } catch (const IndexError& error) {
      expected.error = error.what();
    }
    plain_ = expected.bytes;
    const Where here = where(false);
    const Input indices(rows.data(), rows.size() * 8, here.inputs_there());
    const Input changes(updates.data(), updates.size(), here.inputs_there());
    const Table& to = table();
    Result got;
    try {
      run_scatter(plan, to, indices.host, changes.host, here.queue, here.place);
      finish(plan, to, here.queue);
    } catch (const IndexError& error) {
      got.error = error.what();
    }
    if (place_ == TablePlace::kDevice) {
      on_device_.download(memory_.data(), memory_.size());
    }
    got.bytes = memory_;
    return got == expected ? "" : told("scatter", plan, to, got, expected);
  }

  static std::string told(const char* what, const Plan& plan, const Table& table, const Result& got,
                          const Result& expected) {
    return std::string(what) + " by the way \"" + stats(table).way + "\" differs\n" + plan.str() +
           "\ngot " + got.error + "\nexpected " + expected.error + "\n";
  }

  const std::function<int64_t(int64_t, int64_t)>& from_;
  DType type_;
  TensorSpec spec_;
  Bytes plain_;   // what the table should be
  Bytes memory_;  // of the table; of one on the device, a copy
  DeviceMemory on_device_;
  TablePlace place_ = TablePlace::kHost;
  std::vector<Table> tables_;  // of the same memory
  std::vector<bool> forced_;   // whether the options of each name a way
  int streams_ = 0;            // its address is a stream
};

}  // namespace

std::string run_table_world(const std::function<int64_t(int64_t, int64_t)>& from) {
  add_deferred_device();
  return TableWorld(from).run();
}

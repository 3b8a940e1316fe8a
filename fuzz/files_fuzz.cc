// SPDX-License-Identifier: MIT
//
// A life of a few files: opened, gathered from, scattered into, replaced, cut short and removed, by
// this handle and by others, with indices that change during a call and with calls to the system
// that fail. After each step every file is what the model says, bit for bit: the old one or the new
// one.
#include <fcntl.h>
#include <sheaf/sheaf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "faults/system_calls.h"
#include "folder.h"
#include "input.h"

namespace {

using namespace sheaf;
using fuzz::Input;
using fuzz::require;

constexpr int64_t kRows = 70, kColumns = 1024;  // a block per row: 70 of them are two small waves
constexpr int64_t kTableBytes = kRows * kColumns * 4;

// One file, as it should be.
struct Model {
  std::string path;
  std::string bytes;  // empty: there is no such file
  int64_t version = 0;
  bool torn = false;  // changed in place: whoever has it open may refuse, or see either content
  std::vector<std::pair<std::string, int64_t>> tensors;  // name and offset
};

// One opening of a file, and what its tables must show.
struct Opening {
  int64_t version;
  std::string bytes;
  bool torn = false;
};

struct Handle {
  Table table;
  size_t model, tensor;
  std::shared_ptr<Opening> opening;
};

class Life {
 public:
  Life(Input& input, const fuzz::Folder& folder) : input_(input), folder_(folder) {
    add("t.npy", {"data"});
    add("two.safetensors", {"a", "b"});
  }

  void run() {
    for (int step = 0; step < 24; ++step) {
      switch (input_.below(10)) {
        case 0:
        case 1: open(); break;
        case 2: gather_rows(); break;
        case 3: gather_changing(); break;
        case 4:
        case 5: scatter_in_place(); break;
        case 6: scatter_elsewhere(); break;
        case 7: replace(); break;
        case 8: tear(); break;
        case 9: fault_ = next_fault(); break;
        default: break;
      }
      check_files();
    }
  }

 private:
  static float value_at(const std::string& bytes, int64_t offset) {
    float value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  std::vector<float> numbers() {
    const auto first = static_cast<float>(input_.byte());
    std::vector<float> values(kRows * kColumns);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = first + static_cast<float>(i % 509);
    }
    return values;
  }

  void add(const char* name, const std::vector<std::string>& tensors) {
    Model& model = models_.emplace_back();
    model.path = folder_.file(name);
    for (const std::string& tensor : tensors) {
      model.tensors.emplace_back(tensor, 0);
    }
    write_anew(model);
  }

  // As another program would: a new file takes the name.
  void write_anew(Model& model) {
    const std::vector<float> values = numbers();
    const std::string part = folder_.file("part.npy");
    save(part, "t", view(values, {kRows, kColumns}));
    if (model.tensors.size() > 1) {
      unlink(model.path.c_str());
      const Table table = open_table(part);
      std::vector<NamedTable> named;
      for (const auto& [name, offset] : model.tensors) {
        named.push_back({name, table});
      }
      save(model.path, named);
      unlink(part.c_str());
    } else {
      std::filesystem::rename(part, model.path);
    }
    const File file(model.path);
    for (auto& [name, offset] : model.tensors) {
      offset = file.table(name).info().offset;
    }
    model.bytes = fuzz::read_file(model.path);
    model.torn = false;
    ++model.version;
  }

  std::vector<int64_t> some_rows(bool wild) {
    std::vector<int64_t> rows(static_cast<size_t>(input_.below(2) == 0 ? 3 : 200));
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = wild ? input_.number(-kRows - 2, kRows + 2)
                     : (static_cast<int64_t>(i) * 7 + input_.below(5)) % kRows;
    }
    return rows;
  }

  FileOptions options() {
    FileOptions options;
    options.memory = input_.one_in(2) ? 1 << 20 : options.memory;
    options.reader = input_.one_in(3) ? "pread" : "";
    options.direct = input_.one_in(8);
    return options;
  }

  faults::Fault next_fault() {
    constexpr int kErrors[] = {EIO, ENOSPC, EINTR, EAGAIN, EACCES, EOPNOTSUPP, EMFILE, ENOENT};
    const bool is_short = input_.one_in(4);
    return {is_short ? faults::Kind::kShort : faults::Kind::kError, input_.pick(kErrors),
            1 + input_.below(80)};
  }

  // Runs a call under the fault that is due, if any. True if it succeeded.
  template <class F>
  bool attempt(F call) {
    const faults::Fault fault = std::exchange(fault_, {});
    faulted_ = fault.kind != faults::Kind::kNone;
    const faults::Armed armed(fault);
    try {
      call();
      return true;
    } catch (const FileError& error) {
      error_ = error.system_error();
      return false;
    }
  }

  void open() {
    const size_t model = static_cast<size_t>(input_.below(std::ssize(models_)));
    if (models_[model].bytes.empty() || models_[model].torn || handles_.size() > 5) {
      return;
    }
    std::optional<File> file;
    const bool opened = attempt([&] { file.emplace(models_[model].path); });
    require(opened || faulted_, "a sound file can be opened");
    if (!opened) {
      return;
    }
    const auto opening =
        std::make_shared<Opening>(Opening{models_[model].version, models_[model].bytes});
    for (size_t t = 0; t < models_[model].tensors.size(); ++t) {
      handles_.push_back({file->table(models_[model].tensors[t].first), model, t, opening});
    }
  }

  Handle* some_handle() {
    return handles_.empty() ? nullptr
                            : &handles_[static_cast<size_t>(input_.below(std::ssize(handles_)))];
  }
  int64_t offset_of(const Handle& handle) const {
    return models_[handle.model].tensors[handle.tensor].second;
  }
  float shown(const Handle& handle, int64_t row, int64_t column) const {
    return value_at(handle.opening->bytes, offset_of(handle) + (row * kColumns + column) * 4);
  }

  void gather_rows() {
    const Handle* handle = some_handle();
    if (handle == nullptr) {
      return;
    }
    const std::vector<int64_t> rows = some_rows(true);
    const FileOptions how = options();
    std::optional<Array> got;
    const bool done = attempt([&] {
      got = gather(handle->table, view(rows), {.rule = {.out_of_range = OutOfRange::kClamp}}, how);
    });
    require(done || faulted_ || handle->opening->torn || how.direct, "a sound file can be read");
    for (size_t i = 0; done && !handle->opening->torn && i < rows.size(); ++i) {
      const int64_t row =
          std::clamp<int64_t>(rows[i] < 0 ? rows[i] + kRows : rows[i], 0, kRows - 1);
      for (const int64_t column : {int64_t{0}, kColumns - 1}) {
        require(got->elements<float>()[i * kColumns + static_cast<size_t>(column)] ==
                    shown(*handle, row, column),
                "a gather gives the rows");
      }
    }
  }

  // Each index is read once: whatever it was then, the row is whole.
  void gather_changing() {
    const Handle* handle = some_handle();
    if (handle == nullptr) {
      return;
    }
    std::vector<int64_t> rows = some_rows(false);
    const FileOptions how = options();
    std::optional<Array> got;
    {
      const std::jthread flipping([&](const std::stop_token& stop) {
        for (int64_t round = 0; !stop.stop_requested(); ++round) {
          for (int64_t& row : rows) {
            std::atomic_ref(row).store(round % 2 == 0 ? 0 : kRows - 1, std::memory_order_relaxed);
          }
        }
      });
      if (!attempt([&] { got = gather(handle->table, view(rows), {}, how); })) {
        return;
      }
    }
    for (size_t i = 0; !handle->opening->torn && i < rows.size(); ++i) {
      const float first = got->elements<float>()[i * kColumns];
      bool found = false;
      for (int64_t row = 0; row < kRows; ++row) {
        found = found || first == shown(*handle, row, 0);
      }
      require(found, "a row that an index named");
    }
  }

  void scatter_in_place() {
    Handle* handle = some_handle();
    if (handle == nullptr) {
      return;
    }
    Model& model = models_[handle->model];
    const std::vector<int64_t> rows = some_rows(false);
    const std::vector<float> updates(rows.size() * kColumns, 1);
    std::string next = handle->opening->bytes;
    for (const int64_t row : rows) {
      for (int64_t column = 0; column < kColumns; ++column) {
        const int64_t at = offset_of(*handle) + (row * kColumns + column) * 4;
        const float sum = value_at(next, at) + 1;
        std::memcpy(next.data() + at, &sum, sizeof sum);
      }
    }
    const bool is_current = handle->opening->version == model.version && !model.bytes.empty();
    const bool was_torn = handle->opening->torn;
    const bool done = attempt([&] {
      scatter(handle->table, view(rows), view(updates, {std::ssize(rows), kColumns}),
              {.reduction = Reduction::kAdd}, options());
    });
    if (was_torn) {
      model.bytes = fuzz::read_file(model.path);  // either content is fair
      return;
    }
    require(!done || is_current, "a file that was replaced is not replaced again");
    require(done || faulted_ || (!is_current && error_ == ESTALE), "a current file can be changed");
    const std::string now = fuzz::read_file(model.path);
    require(now == model.bytes || (is_current && now == next), "the old file or the new one");
    require(!done || now == next, "the new file");
    if (now == next && is_current) {
      model.bytes = handle->opening->bytes = next;
      handle->opening->version = ++model.version;
    }
  }

  void scatter_elsewhere() {
    const Handle* handle = some_handle();
    if (handle == nullptr || handle->opening->torn) {
      return;
    }
    const std::vector<int64_t> rows = {1};
    const std::vector<float> updates(kColumns, 5);
    const std::string path = folder_.file("out.npy");
    const FileOptions how = options();
    const Plan plan = plan_scatter(handle->table.spec(), {i64, {1}}, {f32, {1, kColumns}});
    const bool done = attempt([&] {
      run_scatter_to_file(plan, handle->table, view(rows), view(updates, {1, kColumns}), path, how);
    });
    require(done || faulted_ || how.direct, "a sound table can be scattered elsewhere");
    if (done) {
      const std::string out = fuzz::read_file(path);
      require(std::ssize(out) == 128 + kTableBytes, "a whole new file");
      require(value_at(out, 128 + kColumns * 4) == 5, "with the updates");
      require(value_at(out, 128) == shown(*handle, 0, 0), "and the rest");
    }
    unlink(path.c_str());
  }

  void replace() {
    Model& model = models_[static_cast<size_t>(input_.below(std::ssize(models_)))];
    if (input_.one_in(4)) {
      unlink(model.path.c_str());
      model.bytes.clear();
      ++model.version;
    } else {
      write_anew(model);
      chmod(model.path.c_str(), input_.one_in(2) ? 0600 : 0644);
    }
  }

  // Another program cuts the file short, or writes into it.
  void tear() {
    Model& model = models_[static_cast<size_t>(input_.below(std::ssize(models_)))];
    if (model.bytes.empty()) {
      return;
    }
    if (input_.one_in(2)) {
      require(truncate(model.path.c_str(), input_.below(200) * 1000) == 0, "a file can be cut");
    } else {
      const int file = ::open(model.path.c_str(), O_WRONLY | O_CLOEXEC);
      require(pwrite(file, "torn", 4, 5000) == 4, "a file can be written");
      close(file);
    }
    model.torn = true;
    model.bytes = fuzz::read_file(model.path);
    for (const Handle& handle : handles_) {
      if (&models_[handle.model] == &model && handle.opening->version == model.version) {
        handle.opening->torn = true;
      }
    }
  }

  void check_files() {
    for (const Model& model : models_) {
      require(fuzz::read_file(model.path) == model.bytes, "a file changes only by a scatter");
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      require(name == "t.npy" || name == "two.safetensors", "nothing is left behind");
    }
  }

  Input& input_;
  const fuzz::Folder& folder_;
  std::vector<Model> models_;
  std::vector<Handle> handles_;
  faults::Fault fault_;
  bool faulted_ = false;
  int error_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  const fuzz::Folder folder;
  Input input(bytes, count);
  Life(input, folder).run();
  return 0;
}

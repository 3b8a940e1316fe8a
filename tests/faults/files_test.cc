// SPDX-License-Identifier: MIT
//
// Every call that src/io makes to the system, failed in turn: the file is the old one or the new
// one, bit for bit, nothing is left beside it, and what is open goes on working.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <iostream>

#include "faults/system_calls.h"
#include "io/gguf_bytes.h"
#include "io/scratch.h"

namespace {

using namespace sheaf;

// With 1 MiB of memory a wave has 64 blocks: 150 rows of 2000 bytes are two waves.
constexpr int64_t kRows = 160, kColumns = 500, kPicked = 150;
const FileOptions kSmall{.memory = 1 << 20, .depth = 4};

std::vector<float> numbers(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = first + static_cast<float>(i % 1013);
  }
  return values;
}

const std::vector<int64_t> kIds = [] {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < kPicked; ++i) {
    ids.push_back(i * 37 % kPicked);
  }
  return ids;
}();
const std::vector<float> kUpdates = numbers(std::ssize(kIds) * kColumns, 0.5F);

// Names, permissions and bytes of all files in a folder.
using Folder = std::map<std::string, std::pair<unsigned, std::string>>;

Folder read_folder(const Scratch& scratch, bool with_hidden) {
  Folder folder;
  for (const std::string& name : scratch.names()) {
    struct stat status = {};
    if ((with_hidden || !name.starts_with(".sheaf-")) &&
        stat(scratch.path(name).c_str(), &status) == 0) {
      folder[name] = {status.st_mode & 07777U, read_all(scratch.path(name))};
    }
  }
  return folder;
}

int64_t open_descriptors() {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

struct Scenario {
  const char* name;
  std::function<void(const Scratch&)> prepare;
  std::function<void(const Scratch&)> act;  // throws std::logic_error on a wrong result
};

void save_table(const std::string& path) {
  const std::vector<float> values = numbers(kRows * kColumns, 0);
  save(path, "t", view(values, {kRows, kColumns}));
  chmod(path.c_str(), 0640);
}

void check_rows(const Array& rows) {
  for (size_t i = 0; i < kIds.size(); ++i) {
    const auto first = static_cast<size_t>(kIds[i] * kColumns);
    if (rows.elements<float>()[i * kColumns] != static_cast<float>(first % 1013)) {
      throw std::logic_error("a wrong row");
    }
  }
}

// 160 rows of 512 in Q8_0: row r has the codes r % 100, r % 100 + 1, … and the scale 1.
constexpr int64_t kDecoded = 512;

void save_gguf(const Scratch& s) {
  GgufParts parts;
  parts.tensors = {gguf_tensor("t", {kDecoded, kRows}, kGgufQ8_0, 0)};
  for (int64_t block = 0; block < kRows * kDecoded / 32; ++block) {
    parts.data += little(0x3C00, 2);
    for (int64_t i = 0; i < 32; ++i) {
      parts.data += static_cast<char>((block * 32 / kDecoded % 100 + block * 32 + i) % 127);
    }
  }
  s.write("t.gguf", gguf_file(parts));
}

void check_decoded(const Array& rows) {
  for (size_t i = 0; i < kIds.size(); ++i) {
    const int64_t last = kIds[i] * kDecoded + kDecoded - 1;
    if (rows.elements<float>()[i * kDecoded + kDecoded - 1] !=
        static_cast<float>((kIds[i] % 100 + last) % 127)) {
      throw std::logic_error("a wrong row");
    }
  }
}

void scatter_add(const Table& table) {
  scatter(table, view(kIds), view(kUpdates, {std::ssize(kIds), kColumns}),
          {.reduction = Reduction::kAdd}, kSmall);
}

Scenario gathers(const char* name, const char* reader, bool direct) {
  return {name, [](const Scratch& s) { save_table(s.path("t.npy")); },
          [=](const Scratch& s) {
            FileOptions options = kSmall;
            options.reader = reader;
            options.direct = direct;
            check_rows(gather(open_table(s.path("t.npy")), view(kIds), {}, options));
          }};
}

void gather_to(const Scratch& s, const char* to) {
  const Table table = open_table(s.path("t.npy"));
  run_to_file(plan_gather(table.spec(), {i64, {std::ssize(kIds)}}), table, view(kIds), s.path(to),
              kSmall);
}

// Formats need zlib or nlohmann_json, which a build may lack.
std::vector<Scenario> scenarios() {
  const auto table = [](const Scratch& s) { save_table(s.path("t.npy")); };
  std::vector<Scenario> all = {
      {"scatter in place, .npy", table,
       [](const Scratch& s) { scatter_add(open_table(s.path("t.npy"))); }},
      {"scatter into a new file", table,
       [](const Scratch& s) {
         const Table data = open_table(s.path("t.npy"));
         const TensorSpec updates(f32, {std::ssize(kIds), kColumns});
         run_scatter_to_file(plan_scatter(data.spec(), {i64, {std::ssize(kIds)}}, updates), data,
                             view(kIds), view(kUpdates, updates.sizes), s.path("new.npy"), kSmall);
       }},
      {"scatter onto zeros into a new file", table,
       [](const Scratch& s) {
         const Table data = open_table(s.path("t.npy"));
         const TensorSpec updates(f32, {1, kColumns});
         const Plan plan = plan_scatter(data.spec(), {i64, {1}}, updates, {.onto_zeros = true});
         run_scatter_to_file(plan, data, view(kIds.data(), {1}),
                             view(kUpdates.data(), updates.sizes), s.path("new.npy"), kSmall);
       }},
      {"gather into a new file", table, [](const Scratch& s) { gather_to(s, "new.npy"); }},
      {"gather over a file",
       [](const Scratch& s) {
         save_table(s.path("t.npy"));
         s.write("old.npy", "whatever was there");
       },
       [](const Scratch& s) { gather_to(s, "old.npy"); }},
      gathers("gather by pread", "pread", false),
      gathers("gather past the page cache", "pread", true),
  };
  if (built_with("json")) {
    all.push_back(
        {"scatter in place, one of two .safetensors",
         [](const Scratch& s) {
           save_table(s.path("t.npy"));
           const Table t = open_table(s.path("t.npy"));
           save(s.path("two.safetensors"), {{"a", t}, {"b", t}});
         },
         [](const Scratch& s) { scatter_add(open_table(s.path("two.safetensors"), "b")); }});
  }
  if (built_with("zlib")) {
    all.push_back({"save .npz over a file", [](const Scratch& s) { save_table(s.path("t.npz")); },
                   [](const Scratch& s) {
                     const std::vector<float> values = numbers(5000, 3);
                     save(s.path("t.npz"), "n", view(values));
                   }});
  }
  if (built_with("zlib")) {
    all.push_back(
        {"load a deflated .npz",
         [](const Scratch& s) { s.write("z.npz", read_all("fuzz/corpus/npz/waves.npz")); },
         [](const Scratch& s) {
           const Array zeros = open_table(s.path("z.npz")).load();
           if (zeros.sizes() != Dims{150000} || zeros.elements<float>()[149999] != 0) {
             throw std::logic_error("a wrong tensor");
           }
         }});
  }
  all.push_back({"gather decoded rows of a .gguf into a new file", save_gguf, [](const Scratch& s) {
                   const Table t = open_table(s.path("t.gguf"), "t");
                   run_to_file(plan_gather_encoded(t.info().encoded, view(kIds).spec), t,
                               view(kIds), s.path("new.npy"), kSmall);
                 }});
  all.push_back({"gather decoded rows of a .gguf", save_gguf, [](const Scratch& s) {
                   const Table t = open_table(s.path("t.gguf"), "t");
                   check_decoded(gather_encoded(t, view(kIds), GatherOptions{}, f32, kSmall));
                 }});
  all.push_back(
      {"unpack elements of an .onnx",
       [](const Scratch& s) { s.write("m.onnx", read_all("fuzz/corpus/onnx/int4.onnx")); },
       [](const Scratch& s) {
         const Array all_of_it = open_table(s.path("m.onnx")).load();
         if (static_cast<const uint8_t*>(all_of_it.tensor().data)[1] != 2) {
           throw std::logic_error("a wrong element");
         }
       }});
  if (built_with("json")) {
    all.push_back(
        {"open a sharded model",
         [](const Scratch& s) {
           save_table(s.path("m-1.safetensors"));
           s.write("m.safetensors.index.json", R"({"weight_map":{"t":"m-1.safetensors"}})");
         },
         [](const Scratch& s) {
           check_rows(gather(open_table(s.path("m.safetensors.index.json"), "t"), view(kIds)));
         }});
  }
  const Scratch scratch;
  save_table(scratch.path("t.npy"));
  try {
    check_rows(gather(open_table(scratch.path("t.npy")), view(kIds), {}, {.reader = "io_uring"}));
    all.push_back(gathers("gather by io_uring", "io_uring", false));
  } catch (const FileError&) {
    std::cout << "skipped: gather by io_uring: the kernel or the build has none\n";
  }
  return all;
}

const faults::Fault kFaults[] = {
    {faults::Kind::kError, EIO},    {faults::Kind::kError, ENOSPC},
    {faults::Kind::kError, EINTR},  {faults::Kind::kError, EACCES},
    {faults::Kind::kError, EMFILE}, {faults::Kind::kError, EOPNOTSUPP},
    {faults::Kind::kShort},
};

struct Outcomes {
  int64_t done = 0, refused_old = 0, refused_new = 0;
};

// Reads, writes and copies that are interrupted or come back short are continued, and features that
// a file system may lack are done without.
bool must_succeed(const faults::Fault& fault, const std::string& call) {
  const bool moves =
      call == "pread" || call == "pwrite" || call == "copy_file_range" || call == "io_uring read";
  const bool optional = call == "fallocate" || call == "ioctl" || call == "copy_file_range" ||
                        call == "flock" || call == "lseek";
  return (moves && (fault.kind == faults::Kind::kShort || fault.error == EINTR)) ||
         (optional && fault.error == EOPNOTSUPP) || call == "posix_fadvise" ||
         call == "pthread_create" || call == "fgetxattr" || call == "fsetxattr" ||
         call == "flistxattr";
}

// A disk that is broken is reported, not asked again.
bool must_fail(const faults::Fault& fault, const std::string& call) {
  const std::string calls[] = {"pread",
                               "pwrite",
                               "fsync",
                               "ftruncate",
                               "fallocate",
                               "rename",
                               "fchmod",
                               "inflate",
                               "inflateInit2_",
                               "stat",
                               "fstat",
                               "io_uring read",
                               "io_uring_submit_and_wait"};
  return fault.kind == faults::Kind::kError && fault.error == EIO &&
         std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

// Runs the act with the fault. Returns false when it has fewer calls than fault.at.
bool try_fault(const Scenario& scenario, const faults::Fault& fault, const Folder& before,
               const Folder& after, Outcomes& outcomes) {
  const Scratch scratch;
  scenario.prepare(scratch);
  const int64_t descriptors = open_descriptors();
  bool threw = false;
  {
    const faults::Armed armed(fault);
    try {
      scenario.act(scratch);
    } catch (const FileError&) {
      threw = true;
      EXPECT_FALSE(faults::faulted_call().starts_with("inflate"));  // has no memory, not a bad file
    } catch (const std::bad_alloc&) {
      threw = true;
      EXPECT_THAT(faults::faulted_call(), testing::StartsWith("inflate"));
    }
  }
  const std::string call = faults::faulted_call();
  const std::string what = std::string(scenario.name) + ": " + faults::name_of(fault) +
                           " at call " + std::to_string(fault.at) + ", " + call;
  const Folder now = read_folder(scratch, true);
  EXPECT_TRUE(now == before || now == after) << what;
  EXPECT_TRUE(threw || now == after) << what;
  EXPECT_FALSE(threw && !faults::happened()) << what;
  EXPECT_FALSE(threw && must_succeed(fault, call)) << what;
  EXPECT_FALSE(!threw && must_fail(fault, call)) << what;
  EXPECT_EQ(open_descriptors(), descriptors) << what;
  if (!call.empty() && faults::happened()) {
    ++(!threw ? outcomes.done : now == before ? outcomes.refused_old : outcomes.refused_new);
  }
  return !call.empty();
}

void print(const std::string& name, int64_t calls, const Outcomes& o) {
  std::cout << "  " << name << ": " << calls << " calls, " << o.done << " done, " << o.refused_old
            << " refused with the old file, " << o.refused_new << " reported after the new one\n";
}

TEST(FileFaults, LeaveTheOldFileOrTheNewOne) {
  for (const Scenario& scenario : scenarios()) {
    const Scratch scratch;
    scenario.prepare(scratch);
    const Folder before = read_folder(scratch, true);
    scenario.act(scratch);
    const Folder after = read_folder(scratch, true);
    Outcomes outcomes;
    int64_t calls = 0;
    for (faults::Fault fault : kFaults) {
      for (fault.at = 1; try_fault(scenario, fault, before, after, outcomes); ++fault.at) {
        calls = std::max(calls, fault.at);
      }
    }
    print(scenario.name, calls, outcomes);
    EXPECT_GT(calls, 3) << scenario.name;
  }
}

// What has a new name is on the disk: the file first, then its folder.
TEST(FileFaults, NewFilesAreWrittenToTheDisk) {
  for (const Scenario& scenario : scenarios()) {
    const Scratch scratch;
    scenario.prepare(scratch);
    const Folder before = read_folder(scratch, true);
    {
      const faults::Armed armed({});
      scenario.act(scratch);
    }
    const bool wrote = read_folder(scratch, true) != before;
    EXPECT_EQ(faults::calls_by_name()["fsync"], wrote ? 2 : 0) << scenario.name;
  }
}

// The text of the first error that a failing call of this name leads to.
std::string error_at(const Scenario& scenario, const std::string& call, int error) {
  for (int64_t at = 1;; ++at) {
    const Scratch scratch;
    scenario.prepare(scratch);
    std::string text;
    {
      const faults::Armed armed({faults::Kind::kError, error, at});
      try {
        scenario.act(scratch);
      } catch (const FileError& thrown) {
        text = thrown.what();
      }
    }
    if (faults::faulted_call().empty()) {
      return "";
    }
    if (faults::faulted_call() == call && !text.empty() &&
        text.find("cannot open") == std::string::npos) {
      return text;
    }
  }
}

TEST(FileFaults, NameTheFeatureThatIsMissing) {
  EXPECT_THAT(error_at(gathers("direct", "pread", true), "open", EINVAL),
              testing::StartsWith("file: no O_DIRECT\n  its file system cannot read past the page "
                                  "cache"));
  EXPECT_THAT(error_at({"save", [](const Scratch&) {},
                        [](const Scratch& s) { save(s.path("t.npy"), "t", view(kUpdates)); }},
                       "open", EMFILE),
              testing::StartsWith("file: cannot reach its folder\n  Too many open files"));
  const Scenario ring = gathers("ring", "io_uring", false);
  const std::string text = error_at(ring, "io_uring_queue_init", ENOSYS);
  if (faults::calls_by_name().contains("io_uring_queue_init")) {
    EXPECT_THAT(text,
                testing::StartsWith("file: no io_uring\n  the kernel refuses it, or Sheaf was "
                                    "built without liburing"));
  }
}

// After a failed scatter the handle knows which version the file has.
TEST(FileFaults, LeaveAHandleThatFollowsItsFile) {
  for (faults::Fault fault : kFaults) {
    for (fault.at = 1;; ++fault.at) {
      const Scratch scratch;
      save_table(scratch.path("t.npy"));
      const Table table = open_table(scratch.path("t.npy"));
      const float before = numbers(kRows * kColumns, 0)[0];
      {
        const faults::Armed armed(fault);
        try {
          scatter_add(table);
        } catch (const FileError&) {
        }
      }
      if (faults::faulted_call().empty()) {
        break;
      }
      const float once = gather(open_table(scratch.path("t.npy")), view(kIds)).elements<float>()[0];
      const bool applied = once != before;
      scatter_add(table);  // the handle followed, if there was something to follow
      const float twice = gather(table, view(kIds)).elements<float>()[0];
      ASSERT_EQ(twice, before + (applied ? 2 : 1) * kUpdates[0])
          << faults::name_of(fault) << " at call " << fault.at << ", " << faults::faulted_call();
    }
  }
}

// `kill -9` before the n-th call, for every n. A name that a new file has for a moment may be left.
TEST(FileFaults, AKilledProcessLeavesTheOldFileOrTheNewOne) {
  for (const Scenario& scenario : scenarios()) {
    const Scratch scratch;
    scenario.prepare(scratch);
    const Folder before = read_folder(scratch, true);
    scenario.act(scratch);
    const Folder after = read_folder(scratch, true);
    int64_t old_files = 0, new_files = 0, leftovers = 0;
    for (int64_t at = 1;; ++at) {
      const Scratch place;
      scenario.prepare(place);
      const pid_t child = fork();
      if (child == 0) {
        {
          const faults::Armed armed({faults::Kind::kKill, 0, at});
          scenario.act(place);
        }
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      const Folder now = read_folder(place, false);
      EXPECT_TRUE(now == before || now == after) << scenario.name << ", killed at call " << at;
      leftovers += read_folder(place, true) != now;
      if (WIFEXITED(status)) {
        EXPECT_EQ(status, 0);
        break;
      }
      ++(now == before ? old_files : new_files);
      if (at % 8 == 1) {  // locks of the dead are gone, and so is nothing else
        EXPECT_NO_THROW(scenario.act(place)) << scenario.name << ", after a kill at call " << at;
      }
    }
    std::cout << "  " << scenario.name << ": killed " << old_files + new_files << " times, "
              << old_files << " left the old files, " << new_files << " the new ones, " << leftovers
              << " a hidden file\n";
  }
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// Tables in files. A tensor in a .npy, .npz, .safetensors, .onnx, .gguf or raw file is data for
// every gather, and the target of every scatter, without being loaded: rows are fetched, then
// moved. The results have the same bits as in memory. docs/files.md has the formats, limits and
// guarantees.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sheaf/encoded_gather.h"
#include "sheaf/error.h"
#include "sheaf/gather.h"
#include "sheaf/plan.h"
#include "sheaf/scatter.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class FileFormat { kNpy, kNpz, kSafetensors, kOnnx, kRaw, kGguf };
std::string_view to_string(
    FileFormat format);  // "npy", "npz", "safetensors", "onnx", "raw", "gguf"

// What is known of a tensor: what its file says, of which nothing else has been read. Of a table in
// memory, path and name are empty.
struct TableInfo {
  std::string name;
  TensorSpec spec;  // Fortran order shows in the strides
  int64_t bytes = 0;
  std::string path;         // the file that holds the data: a shard, or external data
  int64_t offset = 0;       // of the first byte in that file
  std::string storage;      // "plain"; "deflate", "fields", "packed": decoded as it is read
  std::string unsupported;  // not empty: why this tensor cannot be opened
  // Of rows that are decoded as they are read; `spec` has their bytes. kPlain for all others:
  // `spec` has the elements.
  EncodedSpec encoded = {};
};

struct TableSource;   // where the bytes come from
struct TableState;    // what calls on queues keep from one to the next: sheaf/table.h
struct TableOptions;  // sheaf/table.h
struct FileOptions;

// kSharded: on the ranks of a group of processes (table_of() of sheaf/sharded.h).
enum class TablePlace : uint8_t { kFile, kHost, kDevice, kSharded };
std::string_view to_string(TablePlace place);  // "file", "host", "device", "sharded"

// One tensor, wherever it lies: in a file, in host memory or in memory of a device. Cheap to copy;
// copies share the open file, or hold the memory. Safe to use from many threads. A scatter in place
// gives a file a new version, which all tables of the same File follow. sheaf/table.h feeds devices
// from tables; the functions below take tables in files and in host memory.
class Table {
 public:
  // Memory that is there until the last copy of the table is gone: `held` is kept so long. A null
  // `held` is the caller's promise. Refuses strides that are negative.
  static Table host(const ConstTensor& data, std::shared_ptr<const void> held);
  static Table host(Array data);
  // The same for rows that hold all they need to be decoded (kRow…, kQ… of sheaf/encoding.h).
  static Table host_encoded(const Encoded& data, std::shared_ptr<const void> held);
  static Table device(std::string_view device, const ConstTensor& data,
                      std::shared_ptr<const void> held);
  // The same for memory that run_scatter() of sheaf/table.h may write to. Table::host(Array) is
  // such a table. Refuses elements that share bytes.
  static Table host_writable(const Tensor& data, std::shared_ptr<const void> held);
  static Table device_writable(std::string_view device, const Tensor& data,
                               std::shared_ptr<const void> held);

  TablePlace place() const;
  // The same rows with other options, and pieces, cache and statistics of their own.
  Table with(const TableOptions& options) const;

  const TensorSpec& spec() const { return info_.spec; }
  const TableInfo& info() const { return info_; }
  Array load() const;  // all of it, in memory, row-major
  Array load(const FileOptions& options) const;

  // Bytes [offset, offset + bytes) of the elements, in the order of the file.
  void read(int64_t offset, void* to, int64_t bytes) const;

  const std::shared_ptr<const TableSource>& source() const { return source_; }
  TableState& state() const { return *state_; }
  Table(TableInfo info, std::shared_ptr<const TableSource> source);

 private:
  TableInfo info_;
  std::shared_ptr<const TableSource> source_;
  std::shared_ptr<TableState> state_;
};

// A file of tensors. Opening reads the headers only.
class File {
 public:
  // The format is told by the content; a `.safetensors.index.json` opens all of its shards.
  explicit File(const std::string& path);

  FileFormat format() const;
  const std::string& path() const;
  const std::vector<TableInfo>& tensors() const;  // in the order of the file
  const std::map<std::string, std::string>& metadata() const;

  // The tensor of this name; the only one, if `name` is empty. Throws if there is none.
  Table table(const std::string& name = "") const;

  struct Contents;

 private:
  std::shared_ptr<const Contents> contents_;
};

Table open_table(const std::string& path, const std::string& name = "");

// `spec` elements in a file without a header, `offset` bytes after its start.
Table open_raw(const std::string& path, const TensorSpec& spec, int64_t offset = 0);

// Rows that stay in memory from one call to the next; the SIEVE algorithm decides which. It may
// serve many tables and many threads.
class RowCache {
 public:
  explicit RowCache(int64_t bytes);  // room for rows, with their bookkeeping
  ~RowCache();
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  int64_t hits() const;
  int64_t misses() const;
  int64_t bytes() const;  // in use

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct FileOptions {
  int64_t memory = int64_t{256} << 20;  // bytes that a call may allocate for itself, 1 MiB or more
  int depth = 64;                       // reads in flight
  int threads = 0;                      // that apply a scatter's updates; 0: as many as pay
  bool direct = false;                  // O_DIRECT: past the page cache
  std::optional<FileFormat> format = {};  // of a new file; empty: its suffix says
  std::string_view reader = {};           // "io_uring" or "pread"; empty: the first that works
  RowCache* cache = nullptr;
  // Called between steps of a long run with bytes moved and bytes in all. May throw to stop it.
  std::function<void(int64_t done, int64_t total)> progress = {};
};

// What a call read.
struct FileStats {
  int64_t blocks = 0;      // distinct blocks of 4096 bytes that hold the rows asked for
  int64_t bytes_read = 0;  // from the file
  int64_t requests = 0;
  int64_t cache_hits = 0, cache_misses = 0;  // rows
  std::string reader;                        // which one read
};

// Runs a gather whose data is `data`. Each index is read once, and all are checked before anything
// is read from the file: a bad one throws IndexError and leaves the output untouched. An error of
// the file system throws FileError and leaves the output half-written.
FileStats run(const Plan& plan, const Table& data, const ConstTensor& indices, const Tensor& output,
              const FileOptions& = {});

// The same into a new file, which appears under its name when it is complete and on the disk. The
// format follows the suffix of `path` unless the options name it: .npy, .npz, .safetensors, .onnx;
// .bin and .raw are raw; any other is refused. So is a file that `data` is read from.
FileStats run_to_file(const Plan& plan, const Table& data, const ConstTensor& indices,
                      const std::string& path, const FileOptions& = {});

// Runs a scatter onto `data` and puts the result into the file `path`, which may be the file of
// `data`: then its other tensors stay as they are, and all tables of the same opening see the new
// content. A crash leaves the old file or the new one. Two programs that change one file wait for
// each other; the file is refused if it was changed or replaced since it was opened.
FileStats run_scatter_to_file(const Plan& plan, const Table& data, const ConstTensor& indices,
                              const ConstTensor& updates, const std::string& path,
                              const FileOptions& = {});

// The gathers on a table, into a new Array.
Array gather(const Table& data, const ConstTensor& indices, const GatherOptions& = {},
             const FileOptions& = {});
Array gather_elements(const Table& data, const ConstTensor& indices,
                      const GatherElementsOptions& = {}, const FileOptions& = {});
Array gather_nd(const Table& data, const ConstTensor& indices, const GatherNdOptions& = {},
                const FileOptions& = {});
Array xla_gather(const Table& data, const ConstTensor& indices, const XlaGatherOptions&,
                 const FileOptions& = {});

// Gathers of decoded rows from a table whose info() has an encoding; gather() on it moves the rows
// as they are stored. Rows are decoded as they come, whole ones without more memory than the output
// has; elements of rows (along the last axis, gather_elements) need the table in
// FileOptions::memory.
Array gather_encoded(const Table& data, const ConstTensor& indices, const GatherOptions& = {},
                     DType type = f32, const FileOptions& = {});
Array gather_encoded(const Table& data, const ConstTensor& indices, const GatherElementsOptions&,
                     DType type = f32, const FileOptions& = {});
Array gather_encoded(const Table& data, const ConstTensor& indices, const GatherNdOptions&,
                     DType type = f32, const FileOptions& = {});

// The same by a plan for data.info().encoded, into an output without gaps, and into a new file.
FileStats run(const EncodedGatherPlan& plan, const Table& data, const ConstTensor& indices,
              const Tensor& output, const FileOptions& = {});
FileStats run_to_file(const EncodedGatherPlan& plan, const Table& data, const ConstTensor& indices,
                      const std::string& path, const FileOptions& = {});

// The scatters, in place: the table's file is replaced by one with the updates applied, as
// run_scatter_to_file does it.
void scatter(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
             const ScatterOptions& = {}, const FileOptions& = {});
void scatter_elements(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                      const ScatterElementsOptions& = {}, const FileOptions& = {});
void scatter_nd(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                const ScatterNdOptions& = {}, const FileOptions& = {});
void xla_scatter(const Table& data, const ConstTensor& indices, const ConstTensor& updates,
                 const XlaScatterOptions&, const FileOptions& = {});

// A tensor to be written, by its name.
struct NamedTable {
  std::string name;
  Table table;
};

// Writes a file of these tensors, whole or not at all. .npy and raw take one tensor. A file that
// one of them is read from is refused.
void save(const std::string& path, const std::vector<NamedTable>& tensors,
          const std::map<std::string, std::string>& metadata = {}, const FileOptions& = {});
void save(const std::string& path, const std::string& name, const ConstTensor& tensor,
          const FileOptions& = {});

// Unlinks the files that are being written in this process and have a name already. For handlers of
// signals that end the program: async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace sheaf

#pragma GCC visibility pop

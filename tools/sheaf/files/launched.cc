// SPDX-License-Identifier: MIT
#include "files/launched.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>

#include "command.h"
#include "distributed/group.h"
#include "files/tensor_argument.h"
#include "io/layout.h"
#include "io/npy.h"
#include "io/own_input.h"
#include "sheaf/mpi.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

using distributed::Group;

[[noreturn]] void refuse_launched(const std::string& what, const std::string& detail,
                                  const std::string& next) {
  throw Error(Refusal{.who = "mpirun", .what = what, .detail = detail, .next = next});
}

// Dimension of indices whose entries are divided among the ranks, and where it is in the output.
struct DealtDim {
  int indices, output;
};

DealtDim dealt_dim(const Request& r) {
  if (r.op == Op::kGatherElements) {
    return {static_cast<int>(r.axis), static_cast<int>(r.axis)};
  }
  const auto batch = static_cast<int>(r.batch_dims);
  const int tuples = r.op == Op::kGatherNd ? 1 : 0;
  if (r.indices.rank() - tuples <= batch) {
    refuse_launched("one index", "there is nothing to divide among ranks", "no mpirun");
  }
  return {batch, r.op == Op::kGather ? static_cast<int>(r.axis) : batch};
}

// Entries [first, first + count) of dimension `dim`, row-major.
Array slice(const Array& whole, int dim, int64_t first, int64_t count) {
  TensorSpec spec = whole.spec();
  spec.sizes[dim] = count;
  Array part(TensorSpec(spec.dtype, spec.sizes));
  const auto* from = static_cast<const std::byte*>(whole.tensor().data) +
                     first * whole.spec().strides[dim] * spec.dtype.bytes();
  // A copy is a gather_nd by one tuple without components.
  plan_gather_nd(spec, TensorSpec(i64, {0})).run(from, nullptr, part.tensor().data);
  return part;
}

// A hidden file beside `path`, the same on every rank.
std::string partial_name(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a folder
  return cat(path.substr(0, name), ".sheaf-", path.substr(name), ".part");
}

// A file that all ranks write to and that gets its name when it is complete.
class SharedOutput {
 public:
  SharedOutput(const Group& group, std::string path, std::optional<FileFormat> format)
      : group_(group), path_(std::move(path)), partial_(partial_name(path_)), format_(format) {}
  // Collective. Apart from the constructor: where one rank fails, all remove what there is.
  void create(const TensorSpec& whole) {
    const FileFormat format = io::format_of_new_file(path_, {.format = format_});
    if (format != FileFormat::kNpy && format != FileFormat::kRaw) {
      refuse_launched("output format", cat(path_, " cannot be written by several ranks"),
                      "a .npy file, or raw bytes");
    }
    const std::string header = format == FileFormat::kNpy ? io::npy_header(whole) : "";
    start_ = std::ssize(header);
    group_.together("gather", [&] {
      if (group_.rank() == 0) {
        descriptor_ = open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        check(descriptor_ >= 0, "cannot be created");
        const int64_t bytes = io::add_bytes(path_, start_, io::data_bytes(whole));
        check(ftruncate(descriptor_, bytes) == 0, "cannot be made that long");
        write(0, header.data(), start_);
      }
    });
    group_.together("gather", [&] {
      if (group_.rank() != 0) {
        descriptor_ = open(partial_.c_str(), O_RDWR | O_CLOEXEC);
        check(descriptor_ >= 0, "cannot be opened; ranks need a file system in common");
      }
    });
  }
  ~SharedOutput() {
    if (descriptor_ >= 0) {
      close(descriptor_);
      if (group_.rank() == 0 && !complete_) {
        unlink(partial_.c_str());
      }
    }
  }
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  // Entries [first, …) of dimension `dim` of the whole.
  void write_part(const Array& part, const TensorSpec& whole, int dim, int64_t first) {
    int64_t before = 1, after = whole.dtype.bytes();
    for (int d = 0; d < whole.rank(); ++d) {
      (d < dim ? before : after) *= d == dim ? 1 : whole.sizes[d];
    }
    const int64_t bytes = part.sizes()[dim] * after;
    const auto* from = static_cast<const std::byte*>(part.tensor().data);
    for (int64_t b = 0; b < before; ++b) {
      write(start_ + (b * whole.sizes[dim] + first) * after, from + b * bytes, bytes);
    }
    check(fsync(descriptor_) == 0, "cannot be written");
  }

  void commit() {
    group_.together("gather", [&] {
      if (group_.rank() == 0) {
        check(rename(partial_.c_str(), path_.c_str()) == 0, "cannot get its name");
        complete_ = true;
      }
    });
  }

 private:
  void write(int64_t at, const void* from, int64_t bytes) const {
    for (int64_t done = 0; done < bytes;) {
      const ssize_t put = pwrite(descriptor_, static_cast<const char*>(from) + done,
                                 static_cast<size_t>(bytes - done), at + done);
      check(put > 0 || (put < 0 && errno == EINTR), "cannot be written");
      done += put > 0 ? put : 0;
    }
  }
  void check(bool good, const char* what) const {
    if (!good) {
      throw FileError(Refusal{.code = ErrorCode::kFile,
                              .who = "file",
                              .what = what,
                              .detail = cat(partial_, ": ", std::strerror(errno)),
                              .next = "another place for the output"},
                      partial_, errno);
    }
  }

  const Group& group_;
  std::string path_, partial_;
  std::optional<FileFormat> format_;
  int64_t start_ = 0;
  int descriptor_ = -1;
  bool complete_ = false;
};

mpi::ShardedPlan plan_part(const mpi::ShardedTensor& table, const Request& r,
                           const TensorSpec& indices, const mpi::ShardedOptions& options) {
  switch (r.op) {
    case Op::kGather:
      return mpi::plan_gather(
          table, indices, {.axis = r.axis, .batch_dims = r.batch_dims, .rule = r.rule}, options);
    case Op::kGatherElements:
      return mpi::plan_gather_elements(
          table, indices, {.axis = r.axis, .broadcast = r.broadcast, .rule = r.rule}, options);
    default:
      return mpi::plan_gather_nd(table, indices, {.batch_dims = r.batch_dims, .rule = r.rule},
                                 options);
  }
}

void gather_launched(const LaunchedGather& g) {
  const Group group(mpi::transport(MPI_COMM_WORLD));
  std::optional<Table> file;
  std::optional<Array> all;
  std::optional<Plan> whole;
  DealtDim dim{};
  group.together("gather", [&] {
    if (group.ranks() != launched_ranks()) {
      refuse_launched(
          "another MPI's mpirun",
          cat("it started ", launched_ranks(), " ranks, but they do not find each other"),
          "the mpirun of the MPI that sheaf was built with");
    }
    if (g.indices == "-" || g.output == "-") {
      refuse_launched("standard input or output", "it belongs to one rank", "a file");
    }
    file = table_argument(g.data);
    io::refuse_own_input(*file, g.output);
    if (file->info().encoded.encoding != Encoding::kPlain) {
      refuse_launched("encoded rows", cat(file->info().encoded.str(), " is decoded by one process"),
                      "no mpirun");
    }
    refuse_input_argument(g.indices, g.output);
    all = indices_argument(g.indices);
    whole = make_plan(g.request(file->spec(), all->spec()));
    dim = dealt_dim(whole->request());
  });
  const Request& r = whole->request();
  const int axis = static_cast<int>(r.op == Op::kGatherNd ? r.batch_dims : r.axis);
  const mpi::ShardedTensor table(MPI_COMM_WORLD, file->spec(), axis,
                                 mpi::Split::block(file->spec().sizes[axis], group.ranks()), *file);
  const auto dealt = mpi::Split::block(all->sizes()[dim.indices], group.ranks());
  const int64_t first = dealt.entry(group.rank(), 0);
  std::optional<Array> indices, output;
  group.together("gather",
                 [&] { indices = slice(*all, dim.indices, first, dealt.count(group.rank())); });
  mpi::ShardedPlan plan = plan_part(table, r, indices->spec(), {.workspace_bytes = g.memory});
  group.together("gather", [&] { output.emplace(plan.output()); });
  plan.run(indices->tensor(), output->tensor());
  SharedOutput out(group, g.output, g.format);
  out.create(whole->output());
  group.together("gather", [&] { out.write_part(*output, whole->output(), dim.output, first); });
  out.commit();
  if (group.rank() == 0 && !g.quiet) {
    std::cout << whole->output().str() << " to " << g.output << "; " << group.ranks() << " ranks\n";
  }
}

}  // namespace

// Name and version: what follows are dates and names of machines.
std::string mpi_description() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text);
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

int run_launched(const LaunchedGather& gather) {
  MPI_Init(nullptr, nullptr);
  int rank = 0, status = kSuccess;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    gather_launched(gather);
  } catch (const std::exception& error) {
    status = kDataError;
    if (rank == 0) {  // the same everywhere
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace sheaf::cli

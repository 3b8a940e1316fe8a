// SPDX-License-Identifier: MIT
//
// Plans on tables: into memory, into a new file, and back into the table's own file.
#include "io/byte_space.h"
#include "io/file_error.h"
#include "io/gather.h"
#include "io/layout.h"
#include "io/own_indices.h"
#include "io/own_input.h"
#include "io/replacing.h"
#include "io/scatter.h"
#include "plan/index_error.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

void check_pointer(const Plan& plan, const char* name, const ConstTensor& tensor) {
  if (tensor.data == nullptr && element_count(tensor.spec.sizes) > 0) {
    refuse(plan.request(), "null pointer", cat(name, " has elements, but its pointer is null"),
           "pass the tensor's memory");
  }
}

void check_gather(const Plan& plan, const Table& data, const ConstTensor& indices) {
  if (plan.is_scatter()) {
    refuse(plan.request(), "not a gather", "run() on a table moves rows out of it",
           "run_scatter_to_file");
  }
  check_planned(plan, "data", data.spec(), plan.data());
  check_planned(plan, "indices", indices.spec, plan.indices());
  check_pointer(plan, "indices", indices);
}

// Whether `path` stands for the file of `data`: by name, or as the same file under another name.
bool is_file_of(const Table& data, const std::string& path) {
  if (!data.source()->file) {
    return false;
  }
  const std::optional<io::FileIdentity> there = io::identity_of(path);
  return path == data.info().path ||
         (there && (*there == data.source()->file->version()->identity() ||
                    there == io::identity_of(data.info().path)));
}

void copy_table(const Table& from, io::Sink& sink, const FileOptions& options) {
  if (from.info().bytes > 0) {
    io::gather_blocks(io::copy_plan(from.spec()), from, nullptr, sink, options);
  }
}

void write_zeros(io::NewFile& file, int64_t start, int64_t bytes) {
  const std::vector<std::byte> zeros(static_cast<size_t>(std::min<int64_t>(bytes, 1 << 18)));
  for (int64_t done = 0; done < bytes; done += std::ssize(zeros)) {
    file.write(start + done, zeros.data(), std::min(std::ssize(zeros), bytes - done));
  }
}

// Scatter plans walk contiguous updates only.
Array packed_updates(const Plan& plan, const ConstTensor& updates) {
  Array packed(TensorSpec(plan.updates().dtype, plan.updates().sizes));
  io::copy_plan(updates.spec).run(updates.data, nullptr, packed.tensor().data);
  return packed;
}

// The plan of the same scatter with packed updates, and the output laid out as `output`.
Plan packed_plan(const Plan& plan, const TensorSpec& output) {
  Request request = plan.request();
  request.updates = TensorSpec(request.updates.dtype, request.updates.sizes);
  request.output = output;
  request.output_given = true;
  return make_plan(request);
}

// Updates of bytes would take a block's scale and its codes for numbers.
void refuse_encoded_target(const Table& data) {
  if (data.info().encoded.encoding != Encoding::kPlain) {
    io::refuse_file(data.info().path, "encoded rows are only read",
                    cat("\"", data.info().name, "\" is ", data.info().encoded.str()),
                    "a scatter into the decoded table: gather it to .npy or .safetensors first");
  }
}

void refuse_memory_target(const Table& data, const std::string& path) {
  if (data.source()->memory && path.empty()) {
    throw Error(
        Refusal{.cause = {Reason::kMemory, "data"},
                .who = "table",
                .what = "not in a file",
                .detail = cat(data.spec().str(), " is in memory"),
                .next = "a scatter on that memory, or run_scatter_to_file into a new file"});
  }
}

void check_writable_in_place(const Table& data) {
  if (!data.source()->can_be_changed_in_place()) {
    io::refuse_file(data.info().path, "cannot be changed in place",
                    cat("\"", data.info().name, "\" is compressed, encoded or has a checksum (",
                        data.source()->has_checksum ? ".npz" : data.info().storage, ")"),
                    "another output file, or sheaf convert to .npy or .safetensors");
  }
}

// A scatter whose indices are its own and whose updates are packed.
struct ReadyScatter {
  const Plan& plan;
  const void* indices;
  const void* updates;

  FileStats run(const TensorSpec& output, io::NewFile& file, int64_t start,
                const FileOptions& options) const {
    return io::scatter_blocks(packed_plan(plan, output), file, start, indices, updates, options);
  }
};

FileStats scatter_in_place(const ReadyScatter& scatter, const Table& data,
                           const FileOptions& options) {
  check_writable_in_place(data);
  const TableSource& source = *data.source();
  io::Replacing replacing(*source.file, scatter.plan.request());
  io::NewFile file(data.info().path);
  file.copy_of(replacing.old_version());
  if (scatter.plan.request().onto_zeros) {
    write_zeros(file, source.offset, data.info().bytes);
  }
  FileStats stats = scatter.run(data.spec(), file, source.offset, options);
  // Once the new file has the name, nothing may keep the tables from following it.
  io::VersionPointer next = file.next_version();
  file.publish(replacing.old_version());
  replacing.follow(std::move(next));
  file.sync_folder();
  return stats;
}

FileStats scatter_to_new_file(const ReadyScatter& scatter, const Table& data,
                              const std::string& path, const FileOptions& options) {
  io::refuse_own_input(data, path);
  const TensorSpec output(data.spec().dtype, data.spec().sizes);
  std::string name = data.info().name;
  if (name.empty()) {
    name = "output";
  }
  const io::FileLayout layout =
      io::layout_for(io::format_of_new_file(path, options), path, {{name, output}}, {});
  io::NewFile file(path);
  io::begin_layout(file, layout);  // zeros, where nothing is written
  if (!scatter.plan.request().onto_zeros) {
    io::FileSink sink(file, layout.data_offsets[0]);
    copy_table(data, sink, options);
  }
  FileStats stats = scatter.run(output, file, layout.data_offsets[0], options);
  io::finish_layout(file, layout);
  file.commit();
  return stats;
}

}  // namespace

Array Table::load() const { return load({}); }

Array Table::load(const FileOptions& options) const {
  Array array(TensorSpec(spec().dtype, spec().sizes));
  io::MemorySink sink(array.tensor().data);
  copy_table(*this, sink, options);
  return array;
}

void Table::read(int64_t offset, void* to, int64_t bytes) const {
  if (offset < 0 || bytes < 0 || bytes > info_.bytes - offset) {
    io::refuse_file(info_.path, "outside the tensor",
                    cat(bytes, " bytes at ", offset, " of ", info_.bytes), "less");
  }
  const std::unique_ptr<io::ByteSpace> space = io::open_space(*this, {.reader = "pread"});
  const io::ReadRequest request{space->table_offset() + offset, bytes, static_cast<std::byte*>(to)};
  space->read({&request, 1});
  space->check_unchanged();
}

FileStats run(const Plan& plan, const Table& data, const ConstTensor& indices, const Tensor& output,
              const FileOptions& options) {
  check_gather(plan, data, indices);
  check_planned(plan, "output", output.spec, plan.output());
  check_pointer(plan, "output", output);
  io::MemorySink sink(output.data);
  return io::gather_blocks(plan, data, indices.data, sink, options);
}

FileStats run_to_file(const Plan& plan, const Table& data, const ConstTensor& indices,
                      const std::string& path, const FileOptions& options) {
  check_gather(plan, data, indices);
  check_planned(plan, "output", TensorSpec(plan.output().dtype, plan.output().sizes),
                plan.output());
  io::check_options(path, options);
  io::refuse_own_input(data, path);
  const io::FileLayout layout =
      io::layout_for(io::format_of_new_file(path, options), path, {{"output", plan.output()}}, {});
  io::NewFile file(path);
  io::begin_layout(file, layout);
  io::FileSink sink(file, layout.data_offsets[0]);
  FileStats stats = io::gather_blocks(plan, data, indices.data, sink, options);
  io::finish_layout(file, layout);
  file.commit();
  return stats;
}

FileStats run_scatter_to_file(const Plan& plan, const Table& data, const ConstTensor& indices,
                              const ConstTensor& updates, const std::string& path,
                              const FileOptions& options) {
  if (!plan.is_scatter()) {
    refuse(plan.request(), "not a scatter", "this is a plan of a gather", "run_to_file");
  }
  io::check_options(path, options);
  refuse_memory_target(data, path);
  refuse_encoded_target(data);
  check_planned(plan, "data", data.spec(), plan.data());
  check_planned(plan, "indices", indices.spec, plan.indices());
  check_planned(plan, "updates", updates.spec, plan.updates());
  check_pointer(plan, "indices", indices);
  check_pointer(plan, "updates", updates);
  const io::OwnIndices own(plan, indices.data);
  const OutOfRange rule = plan.nest().out_of_range;
  if (rule == OutOfRange::kFail || rule == OutOfRange::kTrust) {
    throw_first_bad_index(own.plan(), own.data());
  }
  const bool packed = updates.spec == TensorSpec(updates.spec.dtype, updates.spec.sizes);
  const Array copy = packed ? Array(TensorSpec(u8, {0})) : packed_updates(plan, updates);
  const ReadyScatter scatter{own.plan(), own.data(), packed ? updates.data : copy.tensor().data};
  return is_file_of(data, path) ? scatter_in_place(scatter, data, options)
                                : scatter_to_new_file(scatter, data, path, options);
}

namespace {

// No other format has GGUF's blocks: as bytes they would lose what they mean.
void refuse_encoded_copy(const Table& table, const std::string& path) {
  if (table.info().encoded.encoding != Encoding::kPlain) {
    io::refuse_file(path, "no such type in this format",
                    cat("\"", table.info().name, "\" is ", table.info().encoded.str()),
                    "decoded rows: sheaf gather FILE:NAME IDS -o OUT, or gather_encoded");
  }
}

}  // namespace

void save(const std::string& path, const std::vector<NamedTable>& tensors,
          const std::map<std::string, std::string>& metadata, const FileOptions& options) {
  io::check_options(path, options);
  std::vector<io::NamedSpec> specs;
  specs.reserve(tensors.size());
  for (const NamedTable& tensor : tensors) {
    io::refuse_own_input(tensor.table, path);
    refuse_encoded_copy(tensor.table, path);
    specs.push_back(
        {tensor.name, TensorSpec(tensor.table.spec().dtype, tensor.table.spec().sizes)});
  }
  const io::FileLayout layout =
      io::layout_for(io::format_of_new_file(path, options), path, specs, metadata);
  io::NewFile file(path);
  io::begin_layout(file, layout);
  for (size_t i = 0; i < tensors.size(); ++i) {
    io::FileSink sink(file, layout.data_offsets[i]);
    copy_table(tensors[i].table, sink, options);
    sink.flush();
  }
  io::finish_layout(file, layout);
  file.commit();
}

void save(const std::string& path, const std::string& name, const ConstTensor& tensor,
          const FileOptions& options) {
  if (tensor.data == nullptr && element_count(tensor.spec.sizes) > 0) {
    io::refuse_file(path, "null pointer", "the tensor has elements, but its pointer is null",
                    "pass the tensor's memory");
  }
  const TensorSpec packed(tensor.spec.dtype, tensor.spec.sizes);
  const io::FileLayout layout =
      io::layout_for(io::format_of_new_file(path, options), path, {{name, packed}}, {});
  io::NewFile file(path);
  io::begin_layout(file, layout);
  if (io::data_bytes(packed) > 0) {
    if (tensor.spec == packed) {
      file.write(layout.data_offsets[0], tensor.data, io::data_bytes(packed));
    } else {
      Array copy(packed);
      io::copy_plan(tensor.spec).run(tensor.data, nullptr, copy.tensor().data);
      file.write(layout.data_offsets[0], copy.tensor().data, io::data_bytes(packed));
    }
  }
  io::finish_layout(file, layout);
  file.commit();
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// Gathers of decoded rows. The stored rows are fetched as bytes, to the end of the room that the
// decoded ones will take up, and decoded from the first on. A decoded row is longer than a stored
// one, so it ends before the stored rows that are still to come begin: nothing else is allocated.
// Where it is shorter, or parts of rows are gathered, the whole table is read first.
#include <algorithm>
#include <numeric>

#include "execution/cancel.h"
#include "io/file_error.h"
#include "io/gather.h"
#include "io/layout.h"
#include "io/own_indices.h"
#include "io/own_input.h"
#include "io/planned_table.h"
#include "io/points.h"
#include "plan/encoded_gather.h"
#include "plan/index_error.h"
#include "plan/refuse.h"
#include "plan/resolve.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Rows are decoded so many bytes at a time: they stay in a cache between two steps.
constexpr int64_t kDecodedChunk = 1 << 18;

// Where stored rows are fetched to and decoded ones end up.
class Room {
 public:
  virtual ~Room() = default;
  virtual void read(int64_t offset, std::byte* to, int64_t bytes) const = 0;
  // Memory for decoded bytes at `offset`, and that they are in it.
  virtual std::byte* begin(int64_t offset, int64_t bytes) = 0;
  virtual void end(int64_t offset, int64_t bytes) = 0;
};

class MemoryRoom final : public Room {
 public:
  explicit MemoryRoom(std::byte* output) : output_(output) {}
  void read(int64_t offset, std::byte* to, int64_t bytes) const override {
    std::copy_n(output_ + offset, bytes, to);
  }
  std::byte* begin(int64_t offset, int64_t) override { return output_ + offset; }
  void end(int64_t, int64_t) override {}

 private:
  std::byte* output_;
};

class FileRoom final : public Room {
 public:
  FileRoom(io::NewFile& file, int64_t start) : file_(file), start_(start) {}
  void read(int64_t offset, std::byte* to, int64_t bytes) const override {
    file_.read(start_ + offset, to, bytes);
  }
  std::byte* begin(int64_t, int64_t bytes) override {
    buffer_.resize(static_cast<size_t>(bytes));
    return buffer_.data();
  }
  void end(int64_t offset, int64_t bytes) override {
    file_.write(start_ + offset, buffer_.data(), bytes);
  }

 private:
  io::NewFile& file_;
  int64_t start_;
  std::vector<std::byte> buffer_;
};

// Whether each run of elements that the gather moves is a number of whole rows.
bool moves_whole_rows(const Request& r) {
  const int64_t rank = r.data.rank();
  if (r.op == Op::kGatherNd) {
    return r.batch_dims + r.indices.sizes.back() < rank;
  }
  return r.op == Op::kGather && r.axis < rank - 1;
}

// Short rows with their scales in them shrink when they are decoded.
bool is_decoded_in_place(const EncodedGatherPlan& plan) {
  const int64_t decoded = plan.data().sizes.back() * plan.output().dtype.bytes();
  return moves_whole_rows(plan.decoded_gather().request()) &&
         decoded >= plan.data().stored.sizes.back();
}

// The same gather of the rows as they are stored.
Plan stored_plan(const Plan& decoded, const TensorSpec& stored) {
  Request r = decoded.request();
  r.data = stored;
  r.output = {};
  r.output_given = false;
  r.rule.fill_value = 0;  // bytes that are never looked at: such rows are filled when decoded
  return make_plan(r);
}

class RowDecoder {
 public:
  RowDecoder(const EncodedGatherPlan& plan, const Plan& stored, const void* indices, Room& room)
      : plan_(plan), stored_(stored), indices_(indices), room_(room) {
    const Dims& sizes = plan.data().sizes;
    elements_ = sizes.back();
    stored_bytes_ = plan.data().stored.sizes.back();
    decoded_bytes_ = elements_ * plan.output().dtype.bytes();
    rows_ = elements_ == 0 ? 0 : element_count(plan.output().sizes) / elements_;
  }

  int64_t first_stored() const { return rows_ * (decoded_bytes_ - stored_bytes_); }

  void run() {
    const int64_t chunk =
        std::max<int64_t>(kDecodedChunk / std::max<int64_t>(decoded_bytes_, 1), 1);
    for (int64_t row = 0; row < rows_; row += chunk) {
      ask_and_throw(cancel_, plan_.decoded_gather().request());
      decode(row, std::min(chunk, rows_ - row));
    }
    if (rows_ > 0 && stored_.nest().out_of_range == OutOfRange::kFill) {
      fill();
    }
  }

 private:
  void decode(int64_t row, int64_t count) {
    packed_.resize(static_cast<size_t>(count * stored_bytes_));
    room_.read(first_stored() + row * stored_bytes_, packed_.data(), std::ssize(packed_));
    ids_.resize(static_cast<size_t>(count));
    std::iota(ids_.begin(), ids_.end(), 0);
    const EncodedSpec spec = encoded_rows(plan_.data().encoding, {count, elements_});
    const EncodedGatherPlan rows =
        plan_gather_encoded(spec, TensorSpec(i64, {count}), GatherOptions{}, plan_.output().dtype);
    std::byte* const to = room_.begin(row * decoded_bytes_, count * decoded_bytes_);
    rows.run({packed_.data(), nullptr, nullptr, ids_.data(), to}, {.output_is_fresh = true});
    room_.end(row * decoded_bytes_, count * decoded_bytes_);
  }

  // Rows that no index names have the fill value.
  void fill() {
    const DType type = plan_.output().dtype;
    io::Points points(stored_.nest(), static_cast<const std::byte*>(indices_));
    for (auto block = points.next(); !block.empty(); block = points.next()) {
      for (const io::Point& point : block) {
        for (int64_t at = 0; point.data == kOutside && at < stored_.nest().row_bytes;
             at += stored_bytes_) {
          const int64_t row = (point.grid + at) / stored_bytes_;
          std::byte* const to = room_.begin(row * decoded_bytes_, decoded_bytes_);
          for (int64_t e = 0; e < elements_; ++e) {
            std::copy_n(plan_.nest().fill_value, type.bytes(), to + e * type.bytes());
          }
          room_.end(row * decoded_bytes_, decoded_bytes_);
        }
      }
    }
  }

  const EncodedGatherPlan& plan_;
  const Plan& stored_;
  const void* indices_;
  Room& room_;
  int64_t elements_ = 0, stored_bytes_ = 0, decoded_bytes_ = 0;  // of a row
  int64_t rows_ = 0;
  const CancelScope* const cancel_ = current_cancel_scope();
  std::vector<std::byte> packed_;
  std::vector<int64_t> ids_;
};

void check_encoded_gather(const EncodedGatherPlan& plan, const Table& data,
                          const ConstTensor& indices) {
  const Plan& named = plan.decoded_gather();
  if (std::string difference = io::difference_of(plan.data(), data); !difference.empty()) {
    refuse(named.request(), {Reason::kShape, "data"}, "planned for another table",
           std::move(difference), "a plan for info().encoded of this table");
  }
  check_planned(named, "indices", indices.spec, named.indices());
  if (indices.data == nullptr && element_count(indices.spec.sizes) > 0) {
    refuse(named.request(), "null pointer", "indices has elements, but its pointer is null",
           "pass the tensor's memory");
  }
  const TensorSpec& output = plan.output();
  if (output != TensorSpec(output.dtype, output.sizes)) {
    refuse(named.request(), {Reason::kStrides, "output"}, "gaps in the output",
           "rows of an encoded table in a file are decoded in place", "an output without strides");
  }
}

// The indices are the call's own: they are checked, fetched by and filled by.
void check_own_indices(const Plan& named, const void* indices) {
  const OutOfRange rule = named.nest().out_of_range;
  if (rule == OutOfRange::kFail || rule == OutOfRange::kTrust) {
    throw_first_bad_index(named, indices);
  }
}

// Elements of rows: the whole table is fetched, if it fits and is not in memory already.
FileStats run_on_whole_table(const EncodedGatherPlan& plan, const Table& data, const void* indices,
                             void* output, const FileOptions& options) {
  FileStats stats;
  if (data.place() == TablePlace::kHost) {
    plan.run({data.source()->host_bytes(), nullptr, nullptr, indices, output});
    stats.reader = "memory";
    return stats;
  }
  if (data.info().bytes > options.memory) {
    io::refuse_file(data.info().path, "needs the whole table",
                    cat("elements of rows of ", data.info().encoded.str(),
                        " are gathered from memory: ", data.info().bytes, " bytes, but memory is ",
                        options.memory),
                    "whole rows (axis before the last), or more memory");
  }
  const Array stored = data.load();
  plan.run({stored.tensor().data, nullptr, nullptr, indices, output});
  stats.bytes_read = data.info().bytes;
  stats.reader = "pread";
  return stats;
}

template <class Options>
Array gathered(const Table& data, const ConstTensor& indices, const Options& options, DType type,
               const FileOptions& file_options) {
  const EncodedGatherPlan plan =
      plan_gather_encoded(data.info().encoded, indices.spec, options, type);
  Array output(plan.output());
  run(plan, data, indices, output.tensor(), file_options);
  return output;
}

}  // namespace

FileStats run(const EncodedGatherPlan& plan, const Table& data, const ConstTensor& indices,
              const Tensor& output, const FileOptions& options) {
  check_encoded_gather(plan, data, indices);
  check_planned(plan.decoded_gather(), "output", output.spec, plan.output());
  if (output.data == nullptr && element_count(output.spec.sizes) > 0) {
    refuse(plan.decoded_gather().request(), "null pointer",
           "output has elements, but its pointer is null", "pass the tensor's memory");
  }
  if (!is_decoded_in_place(plan)) {
    return run_on_whole_table(plan, data, indices.data, output.data, options);
  }
  const io::OwnIndices own(plan.decoded_gather(), indices.data);
  check_own_indices(own.plan(), own.data());
  const Plan stored = stored_plan(own.plan(), data.spec());
  MemoryRoom room(static_cast<std::byte*>(output.data));
  RowDecoder decoder(plan, stored, own.data(), room);
  io::MemorySink sink(static_cast<std::byte*>(output.data) + decoder.first_stored());
  FileStats stats = io::gather_blocks(stored, data, own.data(), sink, options);
  decoder.run();
  return stats;
}

FileStats run_to_file(const EncodedGatherPlan& plan, const Table& data, const ConstTensor& indices,
                      const std::string& path, const FileOptions& options) {
  check_encoded_gather(plan, data, indices);
  io::check_options(path, options);
  io::refuse_own_input(data, path);
  const FileFormat format = io::format_of_new_file(path, options);
  if (!is_decoded_in_place(plan)) {
    Array output(plan.output());
    FileStats stats = run_on_whole_table(plan, data, indices.data, output.tensor().data, options);
    save(path, "output", output.tensor(), options);
    return stats;
  }
  const io::OwnIndices own(plan.decoded_gather(), indices.data);
  check_own_indices(own.plan(), own.data());
  const Plan stored = stored_plan(own.plan(), data.spec());
  const io::FileLayout layout = io::layout_for(format, path, {{"output", plan.output()}}, {});
  io::NewFile file(path);
  io::begin_layout(file, layout);
  FileRoom room(file, layout.data_offsets[0]);
  RowDecoder decoder(plan, stored, own.data(), room);
  io::FileSink sink(file, layout.data_offsets[0] + decoder.first_stored());
  FileStats stats = io::gather_blocks(stored, data, own.data(), sink, options);
  decoder.run();
  io::finish_layout(file, layout);
  file.commit();
  return stats;
}

Array gather_encoded(const Table& data, const ConstTensor& indices, const GatherOptions& options,
                     DType type, const FileOptions& file_options) {
  return gathered(data, indices, options, type, file_options);
}
Array gather_encoded(const Table& data, const ConstTensor& indices,
                     const GatherElementsOptions& options, DType type,
                     const FileOptions& file_options) {
  return gathered(data, indices, options, type, file_options);
}
Array gather_encoded(const Table& data, const ConstTensor& indices, const GatherNdOptions& options,
                     DType type, const FileOptions& file_options) {
  return gathered(data, indices, options, type, file_options);
}

}  // namespace sheaf

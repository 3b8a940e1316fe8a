// SPDX-License-Identifier: MIT
//
// sheaf gather, gather_elements, gather_nd, scatter, scatter_elements, scatter_nd: on files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iostream>
#include <optional>

#include "advice.h"
#include "command.h"
#include "files/done.h"
#include "files/encoded_run.h"
#include "files/launched.h"
#include "files/standard_output.h"
#include "files/table_run.h"
#include "files/tensor_argument.h"
#include "files/whole_run.h"
#include "io/own_input.h"
#include "machine/terminal.h"
#include "options.h"
#include "plan/encoded_gather.h"
#include "plan/request.h"
#include "plan/vocabulary.h"
#include "sheaf/queue.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kTensors =
    R"(A tensor is FILE (.npy, .npz, .safetensors, .onnx, .gguf), FILE:NAME where a file has several, or
FILE:f32[1000,64]@OFFSET for raw bytes. INDICES may also be numbers and ranges (3,1,-2 or 0:10; rows
end with ;), a .csv or .txt file of them, or - for text on standard input. The format of OUT follows
its suffix: .npy, .npz, .safetensors or .onnx; .bin and .raw hold bytes without a header. - writes
.npy to standard output.
)";

struct OperatorOptions {
  Op op = Op::kGather;
  std::string data, indices, updates, output;
  bool in_place = false;
  std::string device, format, as;
  int64_t axis = 0, batch_dims = 0;
  bool broadcast = false, exclude_self = false, onto_zeros = false;
  std::string negative = "from_end", out_of_range = "fail", fill = "0", reduction = "none";
  FileOptions file;
  bool json = false, quiet = false, verbose = false;
};

template <class Value>
Value value_named(const std::string& name, std::initializer_list<Value> values) {
  for (const Value value : values) {
    if (to_string(value) == name) {
      return value;
    }
  }
  return *values.begin();  // CLI11 has checked the name
}

Scalar fill_value(const std::string& text) {
  int64_t whole = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, whole);
  return result.ec == std::errc() && result.ptr == end ? Scalar(whole) : Scalar(std::stod(text));
}

Request request_of(const OperatorOptions& o, const TensorSpec& data, const TensorSpec& indices) {
  Request r = request_from(o.op);
  r.data = data;
  r.indices = indices;
  r.updates_given = false;
  r.axis = o.axis;
  r.batch_dims = o.batch_dims;
  r.broadcast = o.broadcast;
  r.include_self = !o.exclude_self;
  r.onto_zeros = o.onto_zeros;
  r.reduction = find_named(kReductions, o.reduction)->value;  // the command line has checked it
  r.rule.negative = value_named(o.negative, {Negative::kFromEnd, Negative::kOutOfRange});
  r.rule.out_of_range =
      value_named(o.out_of_range, {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                   OutOfRange::kWrap, OutOfRange::kSkip});
  if (r.rule.out_of_range == OutOfRange::kFill) {
    r.rule.fill_value = fill_value(o.fill);
  }
  return r;
}

void put_output(const OperatorOptions& o, const ConstTensor& output) {
  if (o.output == "-") {
    write_npy(output);
  } else {
    save(o.output, "output", output, o.file);
  }
}

// Whole tensors, in memory: for a scatter on a device, or into a pipe.
FileStats run_in_memory(const OperatorOptions& o, const Plan& plan, const Table& data,
                        const ConstTensor& indices, const ConstTensor& updates) {
  const Array output = run_whole(plan, data, indices, updates, o.device, o.file.threads);
  put_output(o, output.tensor());
  FileStats stats;
  stats.bytes_read = data.info().bytes;
  stats.reader = o.device.empty() ? "pread" : o.device;
  return stats;
}

// By either kind of plan.
template <class AnyPlan>
Done gather_from_file(const OperatorOptions& o, const AnyPlan& plan, const Table& data,
                      const ConstTensor& indices) {
  if (!o.device.empty()) {
    const DeviceGather gathered = gather_on_device(plan, data, indices, o.device, o.file);
    if (o.verbose) {
      std::cerr << gathered.ways;
    }
    put_output(o, gathered.output.tensor());
    return {{.reader = o.device}, gathered.stats};
  }
  if (o.output != "-") {
    return {run_to_file(plan, data, indices, o.output, o.file)};
  }
  Array output(plan.output());
  const FileStats stats = run(plan, data, indices, output.tensor(), o.file);
  write_npy(output.tensor());
  return {stats};
}

FileStats scatter_into_file(const OperatorOptions& o, const Plan& plan, const Table& data,
                            const ConstTensor& indices, const ConstTensor& updates) {
  if (!o.device.empty() || o.output == "-") {
    return run_in_memory(o, plan, data, indices, updates);
  }
  const std::string& path = o.in_place ? data.info().path : o.output;
  return run_scatter_to_file(plan, data, indices, updates, path, o.file);
}

void report(const OperatorOptions& o, const TensorSpec& output, const Done& done) {
  std::ostream& out = o.output == "-" ? std::cerr : std::cout;
  if (o.json) {
    out << json_of(to_string(o.op), output, done) << "\n";
  } else if (!o.quiet && o.output != "-") {
    out << output.str() << " to " << printable(o.in_place ? o.data : o.output) << "; "
        << summary_of(done, o.device);
  }
}

// Under mpirun.
int run_as_rank(const OperatorOptions& o) {
  if (is_scatter(o.op) || !o.device.empty()) {
    throw Error(Refusal{.code = ErrorCode::kUnsupported,
                        .who = "mpirun",
                        .what = "only gathers from files",
                        .detail = cat(to_string(o.op), o.device.empty() ? "" : " with --device",
                                      " was started by mpirun"),
                        .next = "no mpirun; programs scatter with sheaf/mpi.h"});
  }
  return run_launched(
      {.data = o.data,
       .indices = o.indices,
       .output = o.output,
       .request = [&o](const TensorSpec& data,
                       const TensorSpec& indices) { return request_of(o, data, indices); },
       .memory = o.file.memory,
       .format = o.file.format,
       .quiet = o.quiet});
}

// Data is in use until the result has its name: nothing that is read may be replaced by it.
void refuse_inputs_as_output(const OperatorOptions& o, const Table& data) {
  if (o.in_place || o.output == "-") {
    return;
  }
  if (!is_scatter(o.op) || !o.device.empty()) {
    io::refuse_own_input(data, o.output);
  }
  refuse_input_argument(o.indices, o.output);
  if (is_scatter(o.op)) {
    refuse_input_argument(o.updates, o.output);
  }
}

void run_once(const OperatorOptions& o, const Array& indices, std::optional<Progress>& bar) {
  const Table data = table_argument(o.data);
  refuse_inputs_as_output(o, data);
  if (is_scatter(o.op)) {
    refuse_encoded_scatter(data);
  }
  Request request = request_of(o, data.spec(), indices.spec());
  if (const auto type = is_scatter(o.op) ? std::nullopt : decoded_type(data, o.as)) {
    const EncodedGatherPlan plan = make_encoded_gather(data.info().encoded, request, *type);
    const Done done = gather_from_file(o, plan, data, indices.tensor());
    bar.reset();
    return report(o, plan.output(), done);
  }
  if (!is_scatter(o.op)) {
    const Plan plan = make_plan(request);
    const Done done = gather_from_file(o, plan, data, indices.tensor());
    bar.reset();
    return report(o, plan.output(), done);
  }
  const Array updates = updates_argument(o.updates, make_plan(request).updates());
  request.updates = updates.spec();
  request.updates_given = true;
  const Plan plan = make_plan(request);
  const FileStats stats = scatter_into_file(o, plan, data, indices.tensor(), updates.tensor());
  bar.reset();
  report(o, plan.output(), {stats});
}

int run_operator(OperatorOptions& o) {
  o.file.format = format_argument(o.format);
  if (launched_ranks() > 1) {
    return run_as_rank(o);
  }
  refuse_terminal(to_string(o.op), o.output);
  leave_nothing_on_interrupt();
  const Array indices = indices_argument(o.indices);
  std::optional<Progress> bar;
  if (!o.quiet) {
    o.file.progress = [&](int64_t done, int64_t total) {
      if (!bar) {
        bar.emplace(std::string(to_string(o.op)), total, Progress::kBytes);
      }
      bar->at(done);
    };
  }
  // Another program may replace the file while this one waits for it: then its new content is what
  // this scatter is for. Nothing has been written by then.
  constexpr int kMaxTries = 1000;
  for (int tries = 1;; ++tries) {
    try {
      run_once(o, indices, bar);
      return kSuccess;
    } catch (const IndexError& error) {
      throw with_options(error);
    } catch (const FileError& error) {
      if (!o.in_place || error.system_error() != ESTALE || tries == kMaxTries) {
        throw;
      }
    }
  }
}

std::string examples(Op op) {
  switch (op) {
    case Op::kGather:
      return "  sheaf gather model.safetensors:embed 3,1,-2 -o rows.npy\n"
             "  sheaf gather model.gguf:token_embd.weight ids.npy -o rows.npy --as f16\n"
             "  sheaf gather model.safetensors:embed ids.npy -o rows.npy --device vulkan "
             "--verbose\n"
             "  mpirun -n 4 sheaf gather table.npy ids.npy -o rows.npy\n"
             "  cut -f1 log.tsv | sheaf gather table.npy - -o - | python3 plot.py";
    case Op::kGatherElements: return "  sheaf gather_elements scores.npy best.npy --axis 1 -o -";
    case Op::kGatherNd: return "  sheaf gather_nd grid.npy '0,1;2,2' -o cells.npy";
    case Op::kScatter:
      return "  sheaf scatter table.npy ids.csv rows.npy --reduction add --in-place";
    case Op::kScatterElements:
      return "  sheaf scatter_elements a.npy i.npy u.npy --axis 1 -o b.npy";
    default: return "  sheaf scatter_nd grid.npy '0,1;2,2' 5,7 -o grid2.npy";
  }
}

const char* summary_of(Op op) {
  switch (op) {
    case Op::kGather: return "Rows of a table in a file, by index along one axis";
    case Op::kGatherElements: return "Elements of a table, one index each";
    case Op::kGatherNd: return "Elements or slices of a table, by index tuples";
    case Op::kScatter: return "Put or add rows into a table, by index along one axis";
    case Op::kScatterElements: return "Put or add elements into a table, one index each";
    default: return "Put or add elements or slices into a table, by index tuples";
  }
}

void add_scatter_options(CLI::App& command, OperatorOptions& o) {
  std::vector<std::string> reductions;
  reductions.reserve(kReductions.size());
  for (const ReductionRow& row : kReductions) {
    reductions.emplace_back(row.name);
  }
  choices(*command.add_option("--reduction", o.reduction,
                              "How updates meet what is there: " + names_of(kReductions)),
          reductions)
      .option_text("NAME");
  command.add_flag("--exclude-self", o.exclude_self, "What was there is not part of the reduction");
  command.add_flag("--onto-zeros", o.onto_zeros, "Start from zeros instead of DATA");
  command.add_flag("--in-place", o.in_place,
                   "Replace DATA's file; its other tensors stay. A crash leaves the old file or "
                   "the new one");
  command.add_option("--threads", o.file.threads, "At most this many; 0: as many as pay (0)")
      ->check(CLI::Range(0, 4096).description(""))
      ->option_text("N");
}

void add_rule_options(CLI::App& command, OperatorOptions& o) {
  const bool scatters = is_scatter(o.op);
  choices(*command.add_option("--negative", o.negative, "from_end or out_of_range (from_end)"),
          {"from_end", "out_of_range"})
      .option_text("RULE");
  const std::vector<std::string> rules =
      scatters ? std::vector<std::string>{"fail", "clamp", "wrap", "skip"}
               : std::vector<std::string>{"fail", "clamp", "wrap", "fill"};
  choices(*command.add_option("--out-of-range", o.out_of_range,
                              cat("fail, clamp, wrap or ", rules.back(), " (fail)")),
          rules)
      .option_text("RULE");
  if (!scatters) {
    command.add_option("--fill", o.fill, "The value of --out-of-range fill (0)")
        ->check(CLI::Number.description(""))
        ->option_text("VALUE");
  }
}

std::string check_device(const std::string& name) {
  const std::vector<std::string> names = device_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return cat("\"", name, "\" is no device of this build; see sheaf doctor");
  }
  return device_available(name) ? "" : cat(name, " cannot be used: ", device_description(name));
}

void add_file_options(CLI::App& command, OperatorOptions& o) {
  command.add_option("--memory", o.file.memory, "Memory for rows on their way, as in 2G (256M)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->option_text("SIZE");
  command.add_option("--depth", o.file.depth, "Reads in flight (64)")
      ->check(CLI::Range(1, 4096).description(""))
      ->option_text("N");
  add_format_option(command, o.format);
  command.add_flag("--direct", o.file.direct, "Read past the page cache (O_DIRECT)");
  CLI::Option* device =
      command
          .add_option("--device", o.device,
                      is_scatter(o.op) ? "Run there, on the whole table; see sheaf doctor"
                                       : "Run there, on the rows asked for; see sheaf doctor")
          ->check(CLI::Validator(check_device, ""))
          ->option_text("NAME");
  if (is_scatter(o.op)) {
    device->excludes("--in-place");
  }
  if (!is_scatter(o.op)) {
    command.add_flag("--verbose", o.verbose, "With --device: what each way to the rows says");
  }
  command.add_flag("--json", o.json, "Print what was read as a JSON object");
  command.add_flag("--quiet", o.quiet, "No progress bar and no summary");
}

void add_one(CLI::App& app, Command& chosen, Op op) {
  // CLI11 keeps references: one set of options per operator, for the life of the program.
  static std::map<Op, OperatorOptions> all;
  OperatorOptions& o = all[op];
  o.op = op;
  CLI::App* command = app.add_subcommand(std::string(to_string(op)), summary_of(op));
  command->footer(cat(kTensors, "\nExamples:\n", examples(op)));
  command->add_option("data", o.data, "The table")->required()->option_text("DATA");
  command->add_option("indices", o.indices, "Which rows or elements")
      ->required()
      ->option_text("INDICES");
  if (is_scatter(op)) {
    command->add_option("updates", o.updates, "A tensor, or numbers; one number stands for all")
        ->required()
        ->option_text("UPDATES");
  }
  CLI::Option* output =
      command->add_option("-o,--output", o.output, "Where the result goes")->option_text("OUT");
  const bool tuples = op == Op::kGatherNd || op == Op::kScatterNd;
  const bool elements = op == Op::kGatherElements || op == Op::kScatterElements;
  if (!tuples) {
    command->add_option("--axis", o.axis, "Negative counts from the end (0)")->option_text("N");
  }
  if (!elements) {
    command->add_option("--batch-dims", o.batch_dims, "Leading dimensions that both share (0)")
        ->option_text("N");
  }
  if (op == Op::kGatherElements) {
    command->add_flag("--broadcast", o.broadcast, "Off the axis, sizes of 1 stretch, as in NumPy");
  }
  if (is_scatter(op)) {
    add_scatter_options(*command, o);
    output->excludes("--in-place");
  }
  add_rule_options(*command, o);
  if (!is_scatter(op)) {
    choices(*command->add_option(
                "--as", o.as,
                "What encoded rows (GGUF) become: f32, f16, bf16, or packed as they are (f32)"),
            {"f32", "f16", "bf16", "packed"})
        .option_text("TYPE");
  }
  add_file_options(*command, o);
  command->callback([&chosen, &o] {
    if (o.output.empty() && !o.in_place) {
      throw CLI::RequiredError(is_scatter(o.op) ? "-o OUT or --in-place" : "-o OUT");
    }
    chosen = [&o] { return run_operator(o); };
  });
}

}  // namespace

void add_operators(CLI::App& app, Command& chosen) {
  for (const Op op : {Op::kGather, Op::kGatherElements, Op::kGatherNd, Op::kScatter,
                      Op::kScatterElements, Op::kScatterNd}) {
    add_one(app, chosen, op);
  }
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// sheaf bag: rows of a table in a file, pooled.
#include <CLI/CLI.hpp>
#include <iostream>

#include "advice.h"
#include "command.h"
#include "files/encoded_run.h"
#include "files/loaded.h"
#include "files/standard_output.h"
#include "files/tensor_argument.h"
#include "options.h"
#include "plan/bag.h"
#include "plan/vocabulary.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kBagExamples =
    R"(Tensors are written as for sheaf gather. INDICES is a list with --offsets, --lengths or --ids, or a
matrix of which each row is a bag. Table and indices are read into memory as a whole.

Examples:
  sheaf bag table.npy ids.npy --offsets offsets.npy -o sums.npy
  sheaf bag model.safetensors:embed '3,1,2;4,4,0' --pool mean -o means.npy
  sheaf bag model.gguf:token_embd.weight ids.npy --lengths lengths.npy -o sums.npy
  sheaf bag table.npy 3,1,2,5 --lengths 1,0,3 --pool max --padding-index 0 -o largest.npy)";

struct BagFileOptions {
  std::string data, indices, offsets, lengths, ids, weights, output, format;
  std::string pool = "sum", negative = "from_end", out_of_range = "fail";
  std::optional<int64_t> padding;
  int64_t bags = -1;
  int threads = 0;
  bool last_offset = false, quiet = false;
};

BagOptions bag_options(const BagFileOptions& o) {
  BagOptions options;
  options.pool = find_named(kPools, o.pool)->value;  // the command line has checked the names
  options.segments = !o.lengths.empty() ? SegmentForm::kLengths
                     : !o.ids.empty()   ? SegmentForm::kIds
                                        : SegmentForm::kOffsets;
  options.last_offset = o.last_offset;
  options.bags = o.bags;
  options.padding_index = o.padding;
  options.rule.negative = find_named(kNegatives, o.negative)->value;
  options.rule.out_of_range = find_named(kOutOfRanges, o.out_of_range)->value;
  return options;
}

int run_bag_files(const BagFileOptions& o) {
  refuse_terminal("bag", o.output);
  const std::string& segments = !o.lengths.empty() ? o.lengths : !o.ids.empty() ? o.ids : o.offsets;
  for (const std::string& input : {o.data, o.indices, segments, o.weights}) {
    if (!input.empty()) {
      refuse_input_argument(input, o.output);
    }
  }
  const Table table = table_argument(o.data);
  const Array indices = indices_argument(o.indices);
  std::optional<Array> bags, weights;
  if (!segments.empty()) {
    bags.emplace(indices_argument(segments));
  }
  if (!o.weights.empty()) {
    weights.emplace(updates_argument(o.weights, TensorSpec(f32, indices.sizes())));
  }
  const TensorSpec row_major(table.spec().dtype, table.spec().sizes);
  BagSpecs specs{is_encoded(table.info()) ? table.info().encoded : EncodedSpec(row_major),
                 indices.spec()};
  specs.segments = bags ? std::optional(bags->spec()) : std::nullopt;
  specs.weights = weights ? std::optional(weights->spec()) : std::nullopt;
  // Shapes and options that do not fit are refused before a large table is read.
  const BagPlan plan = plan_bag(specs, bag_options(o));
  const Array data = loaded(table, "reading", o.quiet);
  Array output(plan.output());
  plan.run({.stored = data.tensor().data,
            .indices = indices.tensor().data,
            .segments = bags ? bags->tensor().data : nullptr,
            .weights = weights ? weights->tensor().data : nullptr,
            .output = output.tensor().data},
           {.threads = o.threads, .output_is_fresh = true});
  FileOptions file;
  file.format = format_argument(o.format);
  if (o.output == "-") {
    write_npy(output.tensor());
    return kSuccess;
  }
  save(o.output, "output", output.tensor(), file);
  if (!o.quiet) {
    std::cout << output.spec().str() << " to " << printable(o.output) << "\n";
  }
  return kSuccess;
}

template <class Table>
std::vector<std::string> all_names(const Table& table) {
  std::vector<std::string> names;
  names.reserve(std::size(table));
  for (const auto& row : table) {
    names.emplace_back(row.name);
  }
  return names;
}

void add_segment_options(CLI::App& command, BagFileOptions& o) {
  CLI::Option* const offsets =
      command.add_option("--offsets", o.offsets, "Where each bag begins")->option_text("TENSOR");
  CLI::Option* const lengths =
      command.add_option("--lengths", o.lengths, "How many entries each bag has")
          ->option_text("TENSOR");
  CLI::Option* const ids =
      command.add_option("--ids", o.ids, "For each entry the number of its bag, ascending")
          ->option_text("TENSOR");
  offsets->excludes(lengths)->excludes(ids);
  lengths->excludes(ids);
  command.add_flag("--last-offset", o.last_offset, "Offsets end with the end of the last bag")
      ->needs(offsets);
  command.add_option("--bags", o.bags, "With --ids: how many bags there are")
      ->needs(ids)
      ->option_text("N");
}

}  // namespace

void add_bag(CLI::App& app, Command& chosen) {
  static BagFileOptions o;
  CLI::App* command = app.add_subcommand("bag", "Rows of a table in a file, summed or pooled");
  command->footer(kBagExamples);
  command->add_option("data", o.data, "The table")->required()->option_text("DATA");
  command->add_option("indices", o.indices, "Which rows")->required()->option_text("INDICES");
  add_segment_options(*command, o);
  command->add_option("--weights", o.weights, "A tensor, or numbers, one for each index")
      ->option_text("TENSOR");
  choices(*command->add_option("--pool", o.pool,
                               cat("How rows are joined: ", names_of(kPools), " (sum)")),
          all_names(kPools))
      .option_text("NAME");
  command->add_option("--padding-index", o.padding, "Entries that name this row are left out")
      ->option_text("ROW");
  choices(*command->add_option("--negative", o.negative, "from_end or out_of_range (from_end)"),
          all_names(kNegatives))
      .option_text("RULE");
  choices(
      *command->add_option("--out-of-range", o.out_of_range, "fail, clamp, wrap or skip (fail)"),
      {"fail", "clamp", "wrap", "skip"})
      .option_text("RULE");
  command
      ->add_option("-o,--output", o.output, "Where the result goes; - is .npy on standard output")
      ->required()
      ->option_text("OUT");
  add_format_option(*command, o.format);
  command->add_option("--threads", o.threads, "At most this many; 0: as many as pay (0)")
      ->check(CLI::Range(0, 4096).description(""))
      ->option_text("N");
  command->add_flag("--quiet", o.quiet, "No progress bar and no summary");
  command->callback([&chosen] {
    chosen = [] {
      try {
        return run_bag_files(o);
      } catch (const IndexError& error) {
        throw with_bag_options(error);
      }
    };
  });
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// Not in main.cc: CLI11 takes seconds to compile, and the files of the subcommands are compiled as
// one.
#include <CLI/CLI.hpp>

#include "command.h"
#include "sheaf/version.h"

namespace sheaf::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  sheaf inspect model.safetensors
  sheaf gather model.safetensors:embed 3,1,-2 -o rows.npy
  sheaf explain 'gather_elements f32[3,3] i64[2,3]={1,2,0,2,0,0} axis=0'
  sheaf explain 'gather f32[1000000,64] i64[4096] axis=0' --kernels
  sheaf check cases/*.json --op gather,gather_nd
  sheaf explain 'scatter f32[4,2] i64[3]={2,0,2} axis=0 reduction=add'
  sheaf bench 'gather f32[1000000,64] i64[4096] axis=0'
  sheaf demo
  sheaf doctor --json

Exit status: 0 all went well, 1 the data or a case is wrong, 2 the command line is wrong.)";

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Sheaf moves indexed data in tensors: gathers and scatters.", "sheaf"};
  app.footer(kExamples);
  app.set_version_flag("--version", "sheaf " SHEAF_VERSION);
  app.require_subcommand(1);
  Command chosen;
  add_operators(app, chosen);
  add_inspect(app, chosen);
  add_head(app, chosen);
  add_convert(app, chosen);
  add_run(app, chosen);
  add_explain(app, chosen);
  add_check(app, chosen);
  add_bench(app, chosen);
  add_demo(app, chosen);
  add_doctor(app, chosen);
  add_completion(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has a status of its own for each mistake; ours is one for all of them.
    return app.exit(error) == 0 ? kSuccess : kUsageError;
  }
  return chosen();
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// The subcommands. Each adds itself to the application, and sets the command to run if it is
// chosen.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace sheaf::cli {

// Exit statuses of the program.
inline constexpr int kSuccess = 0;
inline constexpr int kDataError = 1;
inline constexpr int kUsageError = 2;

// Does the work and returns the exit status; a sheaf::Error ends the program with kDataError.
using Command = std::function<int()>;

// Finds the subcommand, runs it and returns the exit status.
int run_command_line(int argc, char** argv);

void add_bag(CLI::App& app, Command& chosen);
void add_bench(CLI::App& app, Command& chosen);
void add_check(CLI::App& app, Command& chosen);
void add_completion(CLI::App& app, Command& chosen);
void add_convert(CLI::App& app, Command& chosen);
void add_demo(CLI::App& app, Command& chosen);
void add_doctor(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_head(CLI::App& app, Command& chosen);
void add_inspect(CLI::App& app, Command& chosen);
void add_operators(CLI::App& app, Command& chosen);  // gather, gather_elements, … scatter_nd
void add_port(CLI::App& app, Command& chosen);
void add_run(CLI::App& app, Command& chosen);

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// sheaf port: what a source tree of DirectML or BNNS needs to run here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "command.h"
#include "porting/scan.h"
#include "sheaf/error.h"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPortExamples = R"(Examples:
  sheaf port ~/HelloDirectML
  sheaf port ~/HelloDirectML --patch port.patch && patch -d ~/HelloDirectML -p1 < port.patch

Each line is FILE:LINE: FATE WORD. The fates: runs (as it is), change (--patch has it), refused (it
compiles, and answers the error), absent (it does not compile or link).
Exit status: 0 all of it runs, maybe after changes; 1 something is refused or absent.)";

constexpr const char* kFates[] = {"runs", "change", "refused", "absent"};

[[noreturn]] void refuse_port(const std::string& what, const std::string& path) {
  throw Error(Refusal{.who = "sheaf port",
                      .what = what,
                      .detail = path,
                      .given = "a folder with sources of DirectML or BNNS is read",
                      .next = "a path that exists"});
}

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.good() && !file.eof()) {
    refuse_port("cannot read a file", path.string());
  }
  return text.str();
}

// Headers of Microsoft's that programs bring along: they name everything there is.
bool is_brought_along(const std::string& name) {
  return name == "DirectML.h" || name == "DirectMLX.h" || name == "d3dx12.h";
}

bool is_source(const fs::path& path) {
  static const std::array<std::string, 12> kEndings = {
      ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm", ".swift"};
  return std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

bool is_build_file(const fs::path& path) {
  return path.filename() == "CMakeLists.txt" || path.extension() == ".cmake" ||
         path.filename() == "Makefile";
}

// Sorted; folders whose names begin with a dot are left out, and links are not followed.
std::vector<fs::path> files_below(const fs::path& root) {
  std::vector<fs::path> files;
  for (auto entry =
           fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && name.starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && !entry->is_symlink() && !is_brought_along(name) &&
               (is_source(entry->path()) || is_build_file(entry->path()))) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

int port(const std::string& folder, const std::string& patch) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    refuse_port("not a folder", folder);
  }
  std::array<size_t, std::size(kFates)> counts{};
  std::string diff;
  const std::vector<fs::path> files = files_below(folder);
  for (const fs::path& path : files) {
    const std::string text = read_whole(path);
    const Scan scan = is_source(path) ? scan_source(text) : scan_build_file(text);
    const std::string name = fs::relative(path, folder).generic_string();
    for (const Finding& finding : scan.findings) {
      const auto fate = static_cast<size_t>(finding.ruling.fate);
      ++counts[fate];
      std::cout << name << ":" << finding.line << ": " << kFates[fate] << " " << finding.what
                << (finding.ruling.advice.empty() ? "" : ": ") << finding.ruling.advice << "\n";
    }
    diff += unified_diff(name, scan);
  }
  std::cout << files.size() << " files: " << counts[0] << " run, " << counts[1] << " to change, "
            << counts[2] << " refused, " << counts[3] << " absent\n";
  if (!patch.empty()) {
    std::ofstream file(patch, std::ios::binary);
    file << diff;
    file.close();
    if (!file) {
      refuse_port("cannot write the patch", patch);
    }
  }
  return counts[2] + counts[3] == 0 ? kSuccess : kDataError;
}

}  // namespace

void add_port(CLI::App& app, Command& chosen) {
  static std::string folder, patch;
  CLI::App* command =
      app.add_subcommand("port", "Say what a program of DirectML or BNNS needs to run here");
  command->footer(kPortExamples);
  command->add_option("DIR", folder, "The folder of the program's sources")->required();
  command->add_option("--patch", patch, "Write the changes that are mechanical, as diff -u does")
      ->option_text("FILE");
  command->callback([&chosen] { chosen = [] { return port(folder, patch); }; });
}

}  // namespace sheaf::cli

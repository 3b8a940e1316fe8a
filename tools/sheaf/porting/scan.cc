// SPDX-License-Identifier: MIT
#include "porting/scan.h"

#include <algorithm>
#include <cctype>

#include "support/text.h"

namespace sheaf::cli {
namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Blanks out comments and the contents of strings, so that lines keep their columns.
class Code {
 public:
  std::string of(const std::string& line) {
    std::string code(line.size(), ' ');
    for (size_t i = 0; i < line.size(); ++i) {
      if (in_comment_) {
        if (line.compare(i, 2, "*/") == 0) {
          in_comment_ = false;
          ++i;
        }
      } else if (line.compare(i, 2, "//") == 0) {
        break;
      } else if (line.compare(i, 2, "/*") == 0) {
        in_comment_ = true;
        ++i;
      } else if (line[i] == '"' || line[i] == '\'') {
        i = end_of_quote(line, i);
      } else {
        code[i] = line[i];
      }
    }
    return code;
  }

 private:
  static size_t end_of_quote(const std::string& line, size_t start) {
    // A ' between digits separates them: 1'000.
    if (line[start] == '\'' && start > 0 && in_word(line[start - 1])) {
      return start;
    }
    size_t i = start + 1;
    while (i < line.size() && line[i] != line[start]) {
      i += line[i] == '\\' ? 2u : 1u;
    }
    return i;
  }

  bool in_comment_ = false;
};

// The name of an #include or #import and where it stands; false if the line is none.
bool find_include(const std::string& line, size_t& start, size_t& length) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') {
    return false;
  }
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos ||
      (line.compare(word, 7, "include") != 0 && line.compare(word, 6, "import") != 0)) {
    return false;
  }
  const size_t open = line.find_first_of("<\"", word);
  if (open == std::string::npos) {
    return false;
  }
  const size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  start = open + 1;
  length = close == std::string::npos ? 0 : close - start;
  return length > 0;
}

void add(Scan& scan, size_t line, std::string what, Ruling ruling) {
  const bool known =
      std::any_of(scan.findings.rbegin(), scan.findings.rend(),
                  [&](const Finding& f) { return f.line == line && f.what == what; });
  if (!known) {
    scan.findings.push_back({line, std::move(what), std::move(ruling)});
  }
}

void scan_words(Scan& scan, size_t number, const std::string& code) {
  for (size_t i = 0; i < code.size();) {
    if (!in_word(code[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < code.size() && in_word(code[end])) {
      ++end;
    }
    Ruling ruling;
    const std::string word = code.substr(i, end - i);
    if (rule_on_word(word, ruling)) {
      add(scan, number, word, ruling);
    }
    i = end;
  }
}

// #pragma comment(lib, …) is a linker's option in the source, of one compiler only.
bool is_library_pragma(const std::string& line) {
  const size_t at = line.find_first_not_of(" \t");
  return at != std::string::npos && line.compare(at, 15, "#pragma comment") == 0 &&
         line.find("lib", at) != std::string::npos;
}

void replace(std::string& line, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = line.find(what, at)) != std::string::npos; at += with.size()) {
    line.replace(at, what.size(), with);
  }
}

}  // namespace

Scan scan_source(const std::string& text) {
  Scan scan;
  scan.lines = split_lines(text);
  scan.changed = scan.lines;
  Code code;
  for (size_t i = 0; i < scan.lines.size(); ++i) {
    const std::string& line = scan.lines[i];
    size_t start = 0, length = 0;
    if (find_include(line, start, length)) {
      std::string name = line.substr(start, length);
      Ruling ruling;
      const std::string written = name;
      if (rule_on_include(name, ruling)) {
        add(scan, i + 1, "<" + written + ">", ruling);
        scan.changed[i].replace(start, length, name);
      }
    } else if (is_library_pragma(line)) {
      add(scan, i + 1, "#pragma comment(lib)",
          {Fate::kChange, "link with pkg-config --libs sheaf-directml instead"});
      scan.changed[i] = "// " + line;
    } else {
      scan_words(scan, i + 1, code.of(line));
    }
  }
  return scan;
}

Scan scan_build_file(const std::string& text) {
  struct Library {
    const char *written, *here;
  };
  constexpr Library kLibraries[] = {
      {"-framework Accelerate", "-lsheaf-accelerate"},
      {"d3d12.lib", "d3d12"},
      {"dxgi.lib", "dxgi"},
      {"dxcore.lib", "dxcore"},
      {"DirectML.lib", "directml"},
      {"directml.lib", "directml"},
  };
  Scan scan;
  scan.lines = split_lines(text);
  scan.changed = scan.lines;
  for (size_t i = 0; i < scan.lines.size(); ++i) {
    for (const Library& library : kLibraries) {
      if (scan.lines[i].find(library.written) != std::string::npos) {
        add(scan, i + 1, library.written, {Fate::kChange, std::string("write ") + library.here});
        replace(scan.changed[i], library.written, library.here);
      }
    }
  }
  return scan;
}

std::string unified_diff(const std::string& name, const Scan& scan) {
  constexpr size_t kContext = 3;
  std::vector<size_t> differ;
  for (size_t i = 0; i < scan.lines.size(); ++i) {
    if (scan.lines[i] != scan.changed[i]) {
      differ.push_back(i);
    }
  }
  std::string diff = differ.empty() ? "" : "--- a/" + name + "\n+++ b/" + name + "\n";
  for (size_t first = 0; first < differ.size();) {
    size_t last = first;  // changes whose surroundings touch are one piece
    while (last + 1 < differ.size() && differ[last + 1] - differ[last] <= 2 * kContext) {
      ++last;
    }
    const size_t begin = differ[first] < kContext ? 0 : differ[first] - kContext;
    const size_t end = std::min(differ[last] + kContext + 1, scan.lines.size());
    const std::string range = std::to_string(begin + 1) + "," + std::to_string(end - begin);
    diff += cat("@@ -", range, " +", range, " @@\n");
    for (size_t i = begin; i < end; ++i) {
      const bool same = scan.lines[i] == scan.changed[i];
      diff += (same ? " " : "-") + scan.lines[i] + "\n";
      diff += same ? "" : "+" + scan.changed[i] + "\n";
    }
    first = last + 1;
  }
  return diff;
}

}  // namespace sheaf::cli

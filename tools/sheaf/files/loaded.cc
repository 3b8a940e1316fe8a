// SPDX-License-Identifier: MIT
#include "files/loaded.h"

#include <optional>

#include "machine/terminal.h"

namespace sheaf::cli {

Array loaded(const Table& table, const std::string& label, bool quiet) {
  std::optional<Progress> bar;
  FileOptions options;
  if (!quiet) {
    options.progress = [&](int64_t done, int64_t total) {
      if (!bar) {
        bar.emplace(label, total, Progress::kBytes);
      }
      bar->at(done);
    };
  }
  return table.load(options);
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
//
// What a call on files did, in words and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sheaf/table.h"

namespace sheaf::cli {

// What a call read; of a gather on a device, what travelled there.
struct Done {
  FileStats read;
  std::optional<TableStats> on_device = {};
};

// One JSON object.
std::string json_of(std::string_view op, const TensorSpec& output, const Done& done);

// "read 12 KiB in 3 requests", with the end of the line.
std::string summary_of(const Done& done, const std::string& device);

}  // namespace sheaf::cli

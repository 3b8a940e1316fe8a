// SPDX-License-Identifier: MIT
#include "files/done.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "machine/terminal.h"
#include "support/text.h"

namespace sheaf::cli {

std::string json_of(std::string_view op, const TensorSpec& output, const Done& done) {
  nlohmann::ordered_json json{
      {"op", op},
      {"output",
       {{"dtype", output.dtype.name()},
        {"shape", std::vector<int64_t>(output.sizes.begin(), output.sizes.end())}}}};
  if (done.on_device) {
    json["way"] = done.on_device->way;
    json["rows_fetched"] = done.on_device->rows_fetched;
    json["bytes_to_device"] = done.on_device->bytes_to_device;
    json["pieces"] = done.on_device->pieces;
  } else {
    json["blocks"] = done.read.blocks;
    json["bytes_read"] = done.read.bytes_read;
    json["requests"] = done.read.requests;
  }
  json["reader"] = done.read.reader;
  return json.dump();
}

std::string summary_of(const Done& done, const std::string& device) {
  const auto counted = [](int64_t count, const char* one) {
    return cat(grouped(count), " ", one, count == 1 ? "\n" : "s\n");
  };
  if (done.on_device) {
    return cat(bytes_text(done.on_device->bytes_to_device), " to ", device, " by the way \"",
               done.on_device->way, "\" in ", counted(done.on_device->pieces, "piece"));
  }
  return cat("read ", bytes_text(done.read.bytes_read), " in ",
             counted(done.read.requests, "request"));
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
#include "io/json_leaves.h"

#include "io/file_error.h"

namespace sheaf::io {
namespace {
constexpr const char* kWhat = "built without nlohmann_json";
constexpr const char* kDetail = "safetensors files have a header in JSON";
constexpr const char* kNext = "configure Sheaf where it is installed (nlohmann-json3-dev)";
}  // namespace

void parse_json(const std::string& path, const std::string&,
                const std::function<void(const JsonLeaf&)>&,
                const std::function<void(const std::vector<std::string>&)>&) {
  refuse_file(path, kWhat, kDetail, kNext);
}

std::string json_text(const std::string&) { refuse_file("", kWhat, kDetail, kNext); }

}  // namespace sheaf::io

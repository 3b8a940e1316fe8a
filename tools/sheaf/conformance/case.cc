// SPDX-License-Identifier: MIT
#include "conformance/case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace sheaf::cli {
namespace {

using nlohmann::json;

// Parsed JSON takes up to twenty times the size of its text.
constexpr int64_t kMaxFileBytes = int64_t{64} << 20U;

// A case is a list in an object in a list in an object in a list; complex numbers are one more.
constexpr int kMaxDepth = 16;

constexpr Op kOps[] = {Op::kGather,  Op::kGatherElements,  Op::kGatherNd,  Op::kXlaGather,
                       Op::kScatter, Op::kScatterElements, Op::kScatterNd, Op::kXlaScatter};

std::string_view name_in_cases(Op op) {
  return op == Op::kScatter ? "scatter_update" : to_string(op);
}

const json& member(const json& object, const char* key, const std::string& where) {
  if (!object.is_object()) {
    throw Malformed(where + " is not an object");
  }
  const auto found = object.find(key);
  if (found == object.end()) {
    throw Malformed(cat(where, " has no \"", key, "\""));
  }
  return *found;
}

std::string text_of(const json& value, const std::string& what) {
  if (!value.is_string()) {
    throw Malformed(what + " is not a text");
  }
  return value.get<std::string>();
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw BadFile(path + ": is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw BadFile(path + ": cannot be opened");
  }
  std::string text;
  std::vector<char> chunk(1U << 16U);
  while (file.read(chunk.data(), std::ssize(chunk)) || file.gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (std::ssize(text) > kMaxFileBytes) {
      throw BadFile(cat(path, ": has more than ", kMaxFileBytes, " bytes; split it"));
    }
  }
  if (file.bad()) {
    throw BadFile(path + ": cannot be read");
  }
  return text;
}

CaseTensor read_tensor(const json& value, const std::string& where) {
  CaseTensor tensor;
  tensor.dtype = text_of(member(value, "dtype", where), where + ".dtype");
  tensor.shape = integer_list(member(value, "shape", where), where + ".shape");
  if (const auto values = value.find("data"); values != value.end()) {
    if (!values->is_array()) {
      throw Malformed(where + ".data is not a list");
    }
    tensor.values = &*values;
  }
  return tensor;
}

const json& list_member(const json& object, const char* key) {
  const json* const list = &member(object, key, "the case");
  if (!list->is_array()) {
    throw Malformed(cat(key, " is not a list"));
  }
  return *list;
}

// The tensor called `name` in a list; it has to be there once.
CaseTensor find_tensor(const json& list, const std::string& name, const std::string& where) {
  const json* found = nullptr;
  for (const json& tensor : list) {
    if (text_of(member(tensor, "name", where), where + ".name") != name) {
      continue;
    }
    if (found != nullptr) {
      throw Malformed(cat(where, " names \"", name, "\" twice"));
    }
    found = &tensor;
  }
  if (found == nullptr) {
    throw Malformed(cat(where, " has no tensor named \"", name, "\""));
  }
  return read_tensor(*found, name);
}

Op read_op(const json& value) {
  const std::string name = text_of(member(value, "op", "the case"), "op");
  for (const Op op : kOps) {
    if (name == name_in_cases(op)) {
      return op;
    }
  }
  throw Malformed(cat("unknown op \"", name, "\""));
}

bool read_expect_error(const json& value) {
  const std::string expect = text_of(member(value, "expect", "the case"), "expect");
  if (expect != "ok" && expect != "error") {
    throw Malformed(cat("expect is \"", expect, "\"; it may be \"ok\" or \"error\""));
  }
  return expect == "error";
}

bool read_shapes_only(const json& value) {
  const auto flag = value.find("shapes_only");
  if (flag == value.end()) {
    return false;
  }
  if (!flag->is_boolean()) {
    throw Malformed("shapes_only is neither true nor false");
  }
  return flag->get<bool>();
}

}  // namespace

nlohmann::json load_cases(const std::string& path) {
  const std::string text = read_file(path);
  json cases;
  try {
    cases = json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth > kMaxDepth) {
        throw BadFile(cat(path, ": nests more than ", kMaxDepth, " deep"));
      }
      return true;
    });
  } catch (const json::exception& error) {
    // The text begins with the library's own name for the error, in brackets.
    const std::string_view text_of_error = error.what();
    const size_t prefix = text_of_error.find("] ");
    throw BadFile(
        cat(path, ": ", text_of_error.substr(prefix == std::string_view::npos ? 0 : prefix + 2)));
  }
  if (!cases.is_array()) {
    throw BadFile(path + ": is not a list of cases");
  }
  return cases;
}

Case read_case(const json& value) {
  if (!value.is_object()) {
    throw Malformed("the case is not an object");
  }
  Case c;
  c.op = read_op(value);
  c.expect_error = read_expect_error(value);
  c.shapes_only = read_shapes_only(value);
  const json& inputs = list_member(value, "inputs");
  c.data = find_tensor(inputs, "data", "inputs");
  c.indices = find_tensor(inputs, "indices", "inputs");
  if (is_scatter(c.op)) {
    c.updates = find_tensor(inputs, "updates", "inputs");
  }
  if (!c.expect_error) {
    c.output = find_tensor(list_member(value, "outputs"), "output", "outputs");
  }
  if (const auto attributes = value.find("attributes"); attributes != value.end()) {
    if (!attributes->is_object()) {
      throw Malformed("attributes is not an object");
    }
    c.attributes = &*attributes;
  }
  return c;
}

std::string text_member(const json& value, const char* key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  return found != value.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_case_op(const std::string& name) {
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](Op op) { return name == name_in_cases(op); });
}

int64_t integer_value(const json& value, const std::string& what) {
  if (!value.is_number_integer()) {
    throw Malformed(what + " is not a whole number");
  }
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) {
    throw Malformed(cat(what, " is ", value.get<uint64_t>(), ", more than 2^63 - 1"));
  }
  return value.get<int64_t>();
}

std::vector<int64_t> integer_list(const json& value, const std::string& what) {
  if (!value.is_array()) {
    throw Malformed(what + " is not a list");
  }
  std::vector<int64_t> list;
  for (const json& entry : value) {
    list.push_back(integer_value(entry, cat(what, "[", list.size(), "]")));
  }
  return list;
}

}  // namespace sheaf::cli

// SPDX-License-Identifier: MIT
#include "io/json_leaves.h"

#include <nlohmann/json.hpp>
#include <set>

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 4;

// One object or array that is open.
struct Level {
  bool is_array = false;
  int64_t count = 0;           // of members or elements so far
  std::set<std::string> keys;  // of an object
};

class Leaves final : public nlohmann::json_sax<json> {
 public:
  Leaves(const std::string& path, const std::function<void(const JsonLeaf&)>& leaf,
         const std::function<void(const std::vector<std::string>&)>& empty)
      : path_(path), leaf_(leaf), empty_(empty) {}

  bool null() override { return word("null"); }
  bool boolean(bool value) override { return word(value ? "true" : "false"); }
  bool number_float(double, const std::string& text) override { return word(text); }
  bool binary(json::binary_t&) override { refuse("binary has no meaning here"); }
  bool number_integer(int64_t value) override { return emit(nullptr, value); }
  bool number_unsigned(uint64_t value) override {
    return value > uint64_t{INT64_MAX} ? word(std::to_string(value))
                                       : emit(nullptr, static_cast<int64_t>(value));
  }
  bool string(std::string& value) override { return emit(&value, 0); }
  bool start_object(size_t) override { return open(false); }
  bool start_array(size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    Level& level = levels_.back();
    if (level.count++ > 0) {
      keys_.pop_back();
    }
    if (!level.keys.insert(key).second) {
      refuse(cat("key \"", key, "\" occurs twice"));
    }
    keys_.push_back(key);
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    refuse(cat("byte ", position, ": ", error.what()));
  }

 private:
  [[noreturn]] void refuse(const std::string& detail) const {
    refuse_file(path_, "malformed JSON", detail, "a file written by the format's own library");
  }

  // What is neither a text nor a 64-bit integer is reported as the text that stands there: a place
  // that wants a number refuses it.
  bool word(const std::string& text) { return emit(&text, 0); }

  int64_t next_position() {
    return !levels_.empty() && levels_.back().is_array ? levels_.back().count++ : -1;
  }

  bool emit(const std::string* text, int64_t number) {
    leaf_(JsonLeaf{keys_, next_position(), text, number});
    return true;
  }

  bool open(bool is_array) {
    if (levels_.size() == kMaxDepth) {
      refuse("it is nested too deeply");
    }
    next_position();
    levels_.push_back({is_array, 0, {}});
    return true;
  }

  bool close() {
    const Level& level = levels_.back();
    if (level.count == 0) {
      empty_(keys_);
    } else if (!level.is_array) {
      keys_.pop_back();
    }
    levels_.pop_back();
    return true;
  }

  const std::string& path_;
  const std::function<void(const JsonLeaf&)>& leaf_;
  const std::function<void(const std::vector<std::string>&)>& empty_;
  std::vector<Level> levels_;
  std::vector<std::string> keys_;
};

}  // namespace

void parse_json(const std::string& path, const std::string& text,
                const std::function<void(const JsonLeaf&)>& leaf,
                const std::function<void(const std::vector<std::string>&)>& empty) {
  Leaves leaves(path, leaf, empty);
  json::sax_parse(text, &leaves);
}

std::string json_text(const std::string& text) { return json(text).dump(); }

}  // namespace sheaf::io

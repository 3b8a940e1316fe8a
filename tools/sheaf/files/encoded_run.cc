// SPDX-License-Identifier: MIT
#include "files/encoded_run.h"

#include "machine/terminal.h"
#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::cli {
namespace {

[[noreturn]] void refuse_encoding(const std::string& what, const Table& data,
                                  const std::string& next) {
  throw Error(
      Refusal{.code = ErrorCode::kUnsupported,
              .who = "argument",
              .what = what,
              .detail = cat("\"", printable(data.info().name), "\" is ", described(data.info())),
              .next = next});
}

}  // namespace

std::optional<DType> decoded_type(const Table& data, const std::string& as) {
  if (!is_encoded(data.info())) {
    if (!as.empty()) {
      refuse_encoding("--as is for encoded tables", data, "no --as; sheaf convert changes files");
    }
    return std::nullopt;
  }
  if (as == "packed") {
    return std::nullopt;
  }
  return dtype_from_name(as.empty() ? "f32" : as);
}

void refuse_encoded_scatter(const Table& data) {
  if (is_encoded(data.info())) {
    refuse_encoding("encoded rows are only read", data,
                    "sheaf gather first: its output is a plain table");
  }
}

Table plain_table(const Table& table) {
  if (is_encoded(table.info())) {
    refuse_encoding("encoded rows where plain elements are needed", table,
                    "sheaf gather first: its output is a plain table");
  }
  return table;
}

std::string described(const TableInfo& info) {
  return is_encoded(info) ? info.encoded.str() : info.spec.str();
}

}  // namespace sheaf::cli

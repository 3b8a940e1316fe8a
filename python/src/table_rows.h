// SPDX-License-Identifier: MIT
//
// A table as the Python package has it: the library's, and the arrays that it was made of.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encoded.h"
#include "sheaf/table.h"

namespace sheaf::python {

struct Rows {
  Table table;
  std::shared_ptr<const TableViews> views;  // null: the table is in a file
  std::string way = {};                     // that the options force

  const View* array() const { return views == nullptr ? nullptr : &views->stored; }
  bool encoded() const { return table.info().encoded.encoding != Encoding::kPlain; }
};

Rows rows_of_file(const Table& table);

// Of an array or of a sheaf.Encoded, which live as long as the table.
Rows rows_of_array(nb::handle data);

// The same rows; `cache` is a RowCache or None, and lives as long as the result.
Rows with_options(const Rows& rows, const std::string& way, int64_t piece_bytes, int pieces,
                  int threads, bool lock, int64_t cache_bytes,
                  const std::vector<int64_t>& cached_rows, int64_t memory, int depth, bool direct,
                  std::string_view reader, nb::handle cache);

nb::dict stats_of(const Rows& rows);

// Sheaf's name of the elements' type, sizes, bytes, the place, and the encoding or "plain".
nb::tuple described(const Rows& rows);

}  // namespace sheaf::python

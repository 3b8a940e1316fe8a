// SPDX-License-Identifier: MIT
//
// Encoded tables (GGUF) on the command line.
#pragma once

#include <optional>
#include <string>

#include "sheaf/sheaf.h"

namespace sheaf::cli {

inline bool is_encoded(const TableInfo& info) { return info.encoded.encoding != Encoding::kPlain; }

// The type that rows of `data` are decoded to; nothing if they are moved as they are. `as` is the
// user's word, empty if there was none. Refuses it for plain tables.
std::optional<DType> decoded_type(const Table& data, const std::string& as);

// Encoded rows are only read.
void refuse_encoded_scatter(const Table& data);

// The same table. Refuses an encoded one where elements are meant: indices, updates, inputs of
// models.
Table plain_table(const Table& table);

// "q8_0[1000, 64]" or "f32[1000, 64]".
std::string described(const TableInfo& info);

}  // namespace sheaf::cli

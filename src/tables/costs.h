// SPDX-License-Identifier: MIT
//
// What rows cost on this machine, as it was measured and kept: which way is faster.
#pragma once

#include <memory>
#include <string>

#include "sheaf/table.h"

namespace sheaf::tables {

// Of rows of any size, between the sizes that were measured. Nothing was: all are 0.
RowRates rates_of(const TableCosts& costs, int64_t row_bytes);

// The costs of a device, read from their file once per process.
std::shared_ptr<const TableCosts> known_costs(std::string_view device);
// From now on these, in this process.
void set_known_costs(const TableCosts& costs);
void forget_known_costs();

// What a file of costs has in it, and the reverse. `note` says why there is nothing to use.
std::string text_of(const TableCosts& costs);
TableCosts costs_from(const std::string& text, std::string_view device);

// The device, and the processor that feeds it: costs of other machines are not used.
std::string machine_of(std::string_view device);

}  // namespace sheaf::tables

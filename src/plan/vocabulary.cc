// SPDX-License-Identifier: MIT
//
// The names of types and rules: one vocabulary in errors, JSON, the command line and Python.
#include "plan/vocabulary.h"

#include <cstdlib>
#include <string>

#include "plan/refuse.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A number that is not one of the enumeration has no name: it is refused before it is printed.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto* row = find_row(table, value);
  return row == nullptr ? "unknown" : row->name;
}

constexpr const char* kOpaquePrefix = "opaque";

}  // namespace

bool DType::is_known() const {
  return (kind_ == Kind::kOpaque && bytes_ >= 1 && bytes_ <= kMaxElementBytes) ||
         find_row(kTypes, *this) != nullptr;
}

std::string DType::name() const {
  const TypeRow* row = find_row(kTypes, *this);
  return row != nullptr ? std::string(row->name) : kOpaquePrefix + std::to_string(bytes_);
}

DType opaque(int64_t bytes) {
  if (bytes < 1 || bytes > kMaxElementBytes) {
    refuse_tensor(
        {Reason::kType}, "element size out of range",
        cat("opaque elements of ", bytes, " bytes, but 1..", kMaxElementBytes, " are supported"),
        cat("opaque", bytes), "a trailing dimension of smaller elements");
  }
  return {Kind::kOpaque, static_cast<int>(bytes)};
}

DType dtype_from_name(const std::string& name) {
  for (const TypeRow& known : kTypes) {
    if (name == known.name || name == known.long_name) {
      return known.value;
    }
  }
  const std::string prefix = kOpaquePrefix;
  const bool digits = name.size() > prefix.size() && name.size() <= prefix.size() + 4 &&
                      name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  if (name.starts_with(prefix) && digits) {
    return opaque(std::atoll(name.c_str() + prefix.size()));
  }
  refuse_tensor({Reason::kType}, "unknown element type", cat("\"", name, "\" names no type"),
                "no tensor can be made", cat(kTypeNames, ", opaqueN"));
}

std::string_view to_string(Op op) { return name_in(kOps, op); }
std::string_view to_string(Negative negative) { return name_in(kNegatives, negative); }
std::string_view to_string(OutOfRange rule) { return name_in(kOutOfRanges, rule); }
std::string_view to_string(Reduction reduction) { return name_in(kReductions, reduction); }

IndexRule usual_rule(Op op) {
  return op == Op::kXlaGather    ? XlaGatherOptions{}.rule
         : op == Op::kXlaScatter ? XlaScatterOptions{}.rule
                                 : IndexRule{};
}

const char* refusal_of_reduction(Reduction reduction, DType type) {
  const ReductionRow& row = *find_row(kReductions, reduction);
  if (type.kind() == Kind::kOpaque && reduction != Reduction::kNone) {
    return "opaque elements are only ever copied";
  }
  if (type.is_sub_byte() && reduction != Reduction::kNone) {
    return "integers of less than a byte are only ever copied";
  }
  if (is_complex(type) && row.compares) {
    return "complex numbers have no order";
  }
  if (type == boolean && row.divides) {
    return "a bool cannot hold a mean";
  }
  return nullptr;
}

}  // namespace sheaf

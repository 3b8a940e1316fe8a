// SPDX-License-Identifier: MIT
#include "helpers/bag_gradient_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "helpers/bag_steps.h"
#include "helpers/scatter_oracle.h"

namespace oracle {
namespace {

using sheaf::Dims;
using sheaf::DType;
using sheaf::Pool;
using sheaf::Reduction;
using sheaf::TensorSpec;

// All that the loops below look up.
class GradientEntries {
 public:
  explicit GradientEntries(const GradientProblem& p)
      : p_(p), computed_(p.bag), all_(static_cast<size_t>(entries_of(p.bag))) {
    for (const std::vector<int64_t>& entries : entries_of_bags(p.bag)) {
      int64_t& rows = rows_.emplace_back(0);
      for (const int64_t entry : entries) {
        const int64_t row = row_of_entry(p.bag, entry);
        all_[static_cast<size_t>(entry)] = {static_cast<int64_t>(rows_.size()) - 1, row};
        rows += row == kNoRow ? 0 : 1;
      }
    }
    const Pool pool = p.bag.options.pool;
    if (pool == Pool::kMax || pool == Pool::kMin) {
      find_best(pool);
    }
  }

  DType type() const { return computed_.type(); }
  int64_t elements() const { return computed_.elements(); }
  int64_t count() const { return static_cast<int64_t>(all_.size()); }
  int64_t row(int64_t entry) const { return all_[static_cast<size_t>(entry)].row; }
  bool kept(int64_t entry) const { return row(entry) != kNoRow; }

  // A weight or a sum of products, over what the entry's bag divides by.
  BagCell divided(BagCell value, int64_t entry) const {
    computed_.finish(value, rows_[static_cast<size_t>(bag(entry))]);
    return value;
  }

  BagCell factor(int64_t entry) const { return divided(computed_.weight(entry), entry); }
  BagCell element(int64_t entry, int64_t e) const { return computed_.element(row(entry), e); }

  // sum += gradient of the entry's bag * factor, where element e comes from this entry.
  void add_product(BagCell& sum, int64_t entry, int64_t e, const BagCell& factor) const {
    const int64_t at = bag(entry) * elements() + e;
    if (best_.empty() || best_[static_cast<size_t>(at)].entry == entry) {
      BagCell product = converted_cell(p_.gradient.spec.dtype, p_.gradient.element(at), type());
      join(type(), Reduction::kMul, product.bytes, factor.bytes);
      join(type(), Reduction::kAdd, sum.bytes, product.bytes);
    }
  }

 private:
  // Where an entry is and what it names; one in no bag has no row either.
  struct Entry {
    int64_t bag = -1;
    int64_t row = kNoRow;
  };
  // The entry that an element of a bag comes from.
  struct Best {
    int64_t entry = -1;
    long double value = 0;
  };

  int64_t bag(int64_t entry) const { return all_[static_cast<size_t>(entry)].bag; }

  void find_best(Pool pool) {
    best_.resize(rows_.size() * static_cast<size_t>(elements()));
    for (int64_t entry = 0; entry < count(); ++entry) {
      const BagCell weight = computed_.weight(entry);
      for (int64_t e = 0; kept(entry) && e < elements(); ++e) {
        Best& best = best_[static_cast<size_t>(bag(entry) * elements() + e)];
        const long double value = bag_number(type(), computed_.weighted(row(entry), e, weight));
        const bool better = pool == Pool::kMax ? value > best.value : value < best.value;
        const bool first_nan = std::isnan(value) && !std::isnan(best.value);
        if (best.entry < 0 || first_nan || better) {
          best = {entry, value};
        }
      }
    }
  }

  const GradientProblem& p_;
  ComputedRows computed_;
  std::vector<Entry> all_;
  std::vector<int64_t> rows_;  // of each bag: how many
  std::vector<Best> best_;     // under max and min: [bags, elements]
};

void put_cell(DType from, const BagCell& cell, DType to, std::byte* at) {
  std::memcpy(at, converted_cell(from, cell.bytes, to).bytes, static_cast<size_t>(to.bytes()));
}

}  // namespace

GradientProblem random_gradient(Rng& rng, BagProblem bag) {
  const TensorSpec output = bag.plan().output();
  TensorSpec spec = random_bag_strides(rng, output.dtype, output.sizes);
  if (rng.one_in(6)) {  // what the gradient of a sum is
    spec.strides = Dims(spec.rank(), 0);
  }
  GradientProblem problem{std::move(bag), BagBytes(spec)};
  problem.gradient.fill_numbers(rng);
  return problem;
}

std::vector<int64_t> named_rows(const GradientProblem& problem) {
  const GradientEntries entries(problem);
  std::vector<int64_t> rows;
  for (int64_t entry = 0; entry < entries.count(); ++entry) {
    if (entries.row(entry) >= 0) {
      rows.push_back(entries.row(entry));
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<std::byte> row_gradient(const GradientProblem& problem) {
  const GradientEntries entries(problem);
  const std::vector<int64_t> rows = named_rows(problem);
  const int64_t elements = entries.elements();
  std::vector<BagCell> sums(rows.size() * static_cast<size_t>(elements));
  for (int64_t entry = 0; entry < entries.count(); ++entry) {
    const int64_t row = entries.row(entry);
    if (row < 0) {
      continue;
    }
    const BagCell factor = entries.factor(entry);
    const auto at = std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
    for (int64_t e = 0; e < elements; ++e) {
      entries.add_product(sums[static_cast<size_t>(at * elements + e)], entry, e, factor);
    }
  }
  const DType type = problem.gradient.spec.dtype;
  const auto bytes = static_cast<size_t>(type.bytes());
  std::vector<std::byte> values(sums.size() * bytes);
  for (size_t i = 0; i < sums.size(); ++i) {
    put_cell(entries.type(), sums[i], type, values.data() + i * bytes);
  }
  return values;
}

BagBytes data_gradient(const GradientProblem& problem, BagBytes table, bool add) {
  const std::vector<int64_t> rows = named_rows(problem);
  const std::vector<std::byte> values = row_gradient(problem);
  const DType type = table.spec.dtype;
  const int64_t row_count = table.spec.sizes[0];
  const int64_t elements = element_count(table.spec.sizes) / row_count;
  const BagCell zero;
  for (int64_t row = 0; row < row_count; ++row) {
    const auto found = std::lower_bound(rows.begin(), rows.end(), row);
    const bool named = found != rows.end() && *found == row;
    for (int64_t e = 0; e < elements; ++e) {
      const int64_t at = (found - rows.begin()) * elements + e;
      const std::byte* const value = named ? values.data() + at * type.bytes() : zero.bytes;
      if (named || !add) {
        join(type, add ? Reduction::kAdd : Reduction::kNone, table.element(row * elements + e),
             value);
      }
    }
  }
  return table;
}

BagBytes weight_gradient(const GradientProblem& problem, BagBytes result) {
  const GradientEntries entries(problem);
  for (int64_t entry = 0; entry < entries.count(); ++entry) {
    BagCell total;
    if (entries.kept(entry)) {
      for (int64_t e = 0; e < entries.elements(); ++e) {
        entries.add_product(total, entry, e, entries.element(entry, e));
      }
      total = entries.divided(total, entry);
    }
    put_cell(entries.type(), total, result.spec.dtype, result.element(entry));
  }
  return result;
}

}  // namespace oracle

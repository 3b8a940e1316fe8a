// SPDX-License-Identifier: MIT
#include <numeric>
#include <vector>

#include "tables/row_source.h"

namespace sheaf::tables {
namespace {

class DecodedRows final : public RowSource {
 public:
  DecodedRows(const EncodedGatherPlan& plan, std::unique_ptr<RowSource> stored)
      : encoding_(plan.data().encoding),
        type_(plan.output().dtype),
        elements_(plan.data().sizes.back()),
        stored_bytes_(plan.data().stored.sizes.back()),
        stored_(std::move(stored)) {}

  void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) override {
    const int64_t decoded_bytes = elements_ * type_.bytes();
    const int64_t rows_per_unit = row_bytes / decoded_bytes;
    const int64_t rows = std::ssize(offsets) * rows_per_unit;
    places_.clear();
    for (const int64_t offset : offsets) {
      places_.push_back(offset / decoded_bytes * stored_bytes_);
    }
    packed_.resize(static_cast<size_t>(rows * stored_bytes_));
    stored_->fetch(places_, rows_per_unit * stored_bytes_, packed_.data());
    decode(rows, to);
  }
  void begin() override { stored_->begin(); }
  uint64_t version() const override { return stored_->version(); }
  void check_unchanged() const override { stored_->check_unchanged(); }

 private:
  void decode(int64_t rows, std::byte* to) {
    places_.resize(static_cast<size_t>(rows));
    std::iota(places_.begin(), places_.end(), 0);
    plan_gather_encoded(encoded_rows(encoding_, {rows, elements_}), TensorSpec(i64, {rows}),
                        GatherOptions{}, type_)
        .run({packed_.data(), nullptr, nullptr, places_.data(), to}, {.output_is_fresh = true});
  }

  Encoding encoding_;
  DType type_;
  int64_t elements_, stored_bytes_;  // of a row
  std::unique_ptr<RowSource> stored_;
  std::vector<int64_t> places_;
  std::vector<std::byte> packed_;
};

}  // namespace

std::unique_ptr<RowSource> decoded_rows(const EncodedGatherPlan& plan,
                                        std::unique_ptr<RowSource> stored) {
  return std::make_unique<DecodedRows>(plan, std::move(stored));
}

}  // namespace sheaf::tables

// SPDX-License-Identifier: MIT
//
// The readers of whole words of a row, for one reduction.
#pragma once

#include "backends/cuda/bag/launch.cuh"

namespace sheaf::cuda {

// One file per reduction, for they take long to compile.
void pool_rows_add(const BagCall& call);
void pool_rows_mean(const BagCall& call);  // and sqrtn
void pool_rows_max(const BagCall& call);
void pool_rows_min(const BagCall& call);
void pool_rows_mul(const BagCall& call);

template <Reduction kReduction, bool kDivides = false>
void pool_rows(const BagCall& call) {
  const EncodedRows& rows = call.nest.rows;
  const auto run = [&]<class Reader>(std::type_identity<Reader>) {
    launch_pool<Reader, kReduction, kDivides, true>(call, rows.row_stride);
  };
  switch (rows.encoding) {
    case Encoding::kRowU8F32: return run(std::type_identity<CodeReader<Encoding::kRowU8F32>>{});
    case Encoding::kRowU8F16Front:
      return run(std::type_identity<CodeReader<Encoding::kRowU8F16Front>>{});
    case Encoding::kRowU4F16: return run(std::type_identity<CodeReader<Encoding::kRowU4F16>>{});
    default: break;  // bag_rows_refusal() lets no other encoding pass
  }
  switch (rows.type.kind()) {
    case Kind::kFloat16: return run(std::type_identity<FloatReader<float16>>{});
    case Kind::kBFloat16: return run(std::type_identity<FloatReader<bfloat16>>{});
    default: return run(std::type_identity<FloatReader<float>>{});
  }
}

}  // namespace sheaf::cuda

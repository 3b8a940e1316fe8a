// SPDX-License-Identifier: MIT
//
// Apart from soak.cc: DirectML's names for things are short and many.
#include "calls.h"

#include <algorithm>

#include "frontends/directml/dml.h"

int directml_call(Rng& rng) {
  const auto rows = static_cast<UINT>(rng.from(1, 50));
  const auto count = static_cast<UINT>(rng.from(1, 50));
  std::vector<float> data(rows);
  std::vector<uint32_t> indices(count);
  for (UINT i = 0; i < rows; ++i) {
    data[i] = static_cast<float>(i);
  }
  for (uint32_t& index : indices) {
    index = static_cast<uint32_t>(rng.from(0, rows + 1));  // DirectML clamps
  }
  const std::vector<float> output = dml_test::run(
      dml_test::gather(dml_test::f32({rows}), dml_test::u32({count}), dml_test::f32({count}), 0, 1),
      data, indices);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (output.size() <= i || output[i] != static_cast<float>(std::min(indices[i], rows - 1))) {
      return -1;
    }
  }
  return 1;
}

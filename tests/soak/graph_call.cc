// SPDX-License-Identifier: MIT
//
// Apart from the others: directml.h has the global names.
#include "compat/fluent.h"

#include "calls.h"

int graph_call(Rng& rng) {
  using namespace compat;
  const auto rows = static_cast<UINT>(rng.from(1, 12)), columns = static_cast<UINT>(rng.from(1, 9));
  const auto count = static_cast<UINT>(rng.from(1, 12));
  std::vector<float> x(size_t{rows} * columns);
  for (float& element : x) {
    element = static_cast<float>(rng.from(-99, 99));
  }
  std::vector<UINT> indices(count);
  for (UINT& index : indices) {
    index = static_cast<UINT>(rng.from(0, rows + 1));  // DirectML clamps
  }
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto input = graph.input(0, {kFloat, {rows, columns}});
  const auto ids = graph.constant(bytes_of(indices), {kUint, {1, count}});
  const auto picked = gather(input, ids, 0, 1);
  const auto scaled = identity(picked, DML_SCALE_BIAS{2, 1});
  const auto joined = join({scaled, input}, 0);
  const auto padded = pad(joined, DML_PADDING_MODE_CONSTANT, 7, {0, 1}, {0, 0});
  const auto compiled = graph.compile({padded});
  const auto output = values_of<float>(
      machine.run(compiled.Get(), {bytes_of(x)}, {padded.desc.total})[0], padded.desc.total / 4);
  for (UINT row = 0; row < count + rows; ++row) {
    for (UINT column = 0; column <= columns; ++column) {
      const UINT from = row < count ? std::min(indices[row], rows - 1) : row - count;
      const float element = column == 0 ? 0 : x[size_t{from} * columns + column - 1];
      const float wanted = column == 0 ? 7 : row < count ? 2 * element + 1 : element;
      if (output[size_t{row} * (columns + 1) + column] != wanted) {
        return -1;
      }
    }
  }
  return 1;
}

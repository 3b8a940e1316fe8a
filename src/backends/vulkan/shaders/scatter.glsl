// SPDX-License-Identifier: MIT
//
// What the kernels of a scatter share: keys of cells, and places in cells and updates.
#ifndef SHEAF_SCATTER
#define SHEAF_SCATTER

#include "nest.glsl"

uvec2 number_address(uvec2 array, uint number) { return plus(array, times(number, 4u)); }
uint load_number(uvec2 array, uint number) { return load_word(number_address(array, number)); }

uvec2 key_of(Call call, uint tuple) {
  return uvec2(load_number(call.keys, tuple),
               is_zero(call.high_keys) ? 0u : load_number(call.high_keys, tuple));
}

// The piece `column` of `bytes` bytes of a cell, and of a tuple's updates.
struct CellPiece {
  uvec2 data, grid;
};
CellPiece piece_of_cell(Call call, uvec2 column, uint bytes) {
  Nest slices = Nest(call.slices);
  uvec2 in_row;
  const uvec2 slice = divided(times(column, bytes), call.row_bytes, in_row);
  const Place place = locate(slices, slice);
  return CellPiece(plus(place.data, in_row), plus(place.grid, in_row));
}

uvec2 cell_address(Call call, uvec2 key) {
  return plus(call.data, plus(call.lowest, times(key, call.unit)));
}
uvec2 updates_address(Call call, uint tuple) {
  return plus(call.grid, locate(Nest(call.nest), uvec2(tuple, 0u)).grid);
}

#endif

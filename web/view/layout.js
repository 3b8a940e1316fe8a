// SPDX-License-Identifier: MIT
//
// Where the cells of a tensor are drawn: the last dimension runs across, the one before it down, and
// the two before those make a grid of such grids; and so on for more.
import { positionOf } from "../model/positions.js";

export const CELL_HEIGHT = 36;
const ROW_LABEL = 22;
const COLUMN_LABEL = 16;
const BLOCK_LABEL = 18;
const BLOCK_GAP = [18, 18, 30, 30, 42, 42];

// "[1, :, :]": which part of the tensor a block is.
function blockName(position, rank) {
  return `[${[...position, ...Array(rank - position.length).fill(":")].join(", ")}]`;
}

// {width, height, place(element), blocks, rows, columns}. `narrow` stacks what would stand side by
// side.
export function layOut(sizes, cellWidth, narrow = false) {
  const rank = sizes.length;
  const columns = rank > 0 ? sizes[rank - 1] : 1;
  const rows = rank > 1 ? sizes[rank - 2] : 1;
  const left = rank > 1 ? ROW_LABEL : 0;
  const top = COLUMN_LABEL + (rank > 2 ? BLOCK_LABEL : 0);
  let width = left + columns * cellWidth;
  let height = top + rows * CELL_HEIGHT;
  // Steps of the dimensions outside a block, from the innermost.
  const outer = [];
  for (let d = rank - 3; d >= 0; --d) {
    const level = rank - 3 - d;
    const gap = BLOCK_GAP[Math.min(level, BLOCK_GAP.length - 1)];
    const across = level % 2 === 0 && !(narrow && level === 0);
    const step = (across ? width : height) + gap;
    outer.unshift({ across, step });
    if (across) width += Math.max(0, sizes[d] - 1) * step;
    else height += Math.max(0, sizes[d] - 1) * step;
  }
  const blockPlace = (position) => outer.reduce((place, { across, step }, d) => ({
    x: place.x + (across ? position[d] * step : 0),
    y: place.y + (across ? 0 : position[d] * step),
  }), { x: 0, y: 0 });
  const place = (element) => {
    const position = positionOf(element, sizes);
    const block = blockPlace(position);
    return {
      x: block.x + left + (rank > 0 ? position[rank - 1] : 0) * cellWidth,
      y: block.y + top + (rank > 1 ? position[rank - 2] : 0) * CELL_HEIGHT,
    };
  };
  const blockCount = sizes.slice(0, Math.max(0, rank - 2)).reduce((a, b) => a * b, 1);
  const blocks = Array.from({ length: sizes.includes(0) ? 0 : blockCount }, (_, b) => {
    const position = positionOf(b, sizes.slice(0, Math.max(0, rank - 2)));
    return { ...blockPlace(position), name: rank > 2 ? blockName(position, rank) : "" };
  });
  return { width, height, place, blocks, rows, columns, left, top, cellWidth };
}

// Wide enough for the longest text, within reason; what is longer is cut.
export function cellWidthFor(values) {
  const longest = values.reduce((most, text) => Math.max(most, text.length), 1);
  return Math.min(104, Math.max(42, Math.round(longest * 8.4 + 16)));
}

// SPDX-License-Identifier: MIT
//
// How large a picture is drawn: it fills its card, as long as cells and picture stay of a reasonable size.

const LEAST = 0.85; // a little smaller, if then all tensors stand side by side
const MOST = 1.8;
const MOST_BROKEN = 1.4; // in several rows
const MOST_HEIGHT = 460;
const GAP = 44;
const STEP = 0.05;

const widthOf = ({ width, caption }, scale) => Math.max(width * scale, caption);

// How many rows boxes take that flow like words.
function rowsOf(boxes, room, scale) {
  let rows = 1;
  let used = -GAP;
  for (const box of boxes) {
    const width = Math.min(widthOf(box, scale), room);
    if (used >= 0 && used + GAP + width > room) {
      ++rows;
      used = -GAP;
    }
    used += GAP + width;
  }
  return rows;
}

// The largest scale between `least` and `most` that `fits`, or null.
function largest(least, most, fits) {
  for (let scale = most; scale > least - STEP / 2; scale -= STEP) {
    const rounded = Math.round(scale / STEP) * STEP;
    if (fits(rounded)) return rounded;
  }
  return null;
}

// `boxes` are tensors as {width, height, caption} at scale 1; `upright`: they stand below each other.
export function scaleFor(boxes, room, upright) {
  const high = boxes.reduce((sum, box) => (upright ? sum + box.height : Math.max(sum, box.height)), 0);
  const most = Math.max(1, Math.min(MOST, MOST_HEIGHT / high));
  if (upright) return largest(1, most, (scale) => boxes.every((box) => box.width * scale <= room)) ?? 1;
  const row = largest(LEAST, most, (scale) => rowsOf(boxes, room, scale) === 1);
  if (row !== null) return row;
  const rows = rowsOf(boxes, room, 1);
  return largest(1, Math.min(most, MOST_BROKEN), (scale) => rowsOf(boxes, room, scale) === rows &&
    boxes.every((box) => box.width * scale <= room)) ?? 1;
}

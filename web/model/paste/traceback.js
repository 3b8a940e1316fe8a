// SPDX-License-Identifier: MIT
//
// The index that an error text complains about: which value, along which axis of which size, and where it
// stands in indices if the text says so.

const number = (text) => (text === undefined ? null : Number(text));

// name: the call it most likely was, if no line of the text shows one.
const COMPLAINTS = [
  { name: "torch.gather", text: /index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)/, read: ([, value, axis, size]) => ({ value, axis, size }) },
  { name: "numpy.take", text: /index (-?\d+) is out of bounds for axis (\d+) with size (\d+)/, read: ([, value, axis, size]) => ({ value, axis, size }) },
  { name: "numpy.take", text: /index (-?\d+) is out of bounds for size (\d+)/, read: ([, value, size]) => ({ value, axis: "0", size }) },
  { name: "tf.gather", text: /indices\[([\d,\s]+)\] = (-?\d+) is not in \[0, (\d+)\)/, read: ([, at, value, size]) => ({ value, axis: "0", size, at }) },
  { name: "Gather", text: /out of data bounds, idx=(-?\d+) must be within the inclusive range \[-(\d+),/, read: ([, value, size]) => ({ value, axis: "0", size }) },
  { name: "sheaf.gather", text: /indices\[([\d,\s]*)\] = (-?\d+), but axis (\d+) of data has (\d+) entr/, read: ([, at, value, axis, size]) => ({ value, axis, size, at }) },
];

// {name, value, axis, size, at: [position] or null}, or null.
export function parseComplaint(text) {
  for (const { name, text: pattern, read } of COMPLAINTS) {
    const match = text.match(pattern);
    if (!match) continue;
    const { value, axis, size, at } = read(match);
    return {
      name, value: number(value), axis: number(axis), size: number(size),
      at: at ? at.split(",").map(Number) : null,
    };
  }
  return null;
}

// SPDX-License-Identifier: MIT
//
// Running a bag line by line: a bag begins, each of its entries is read, decoded and added, and the bag is
// finished. As ticks.js has it for gathers and scatters.
import { rangeName } from "../range.js";

const SIGNS = { sum: "+=", mean: "+=", sqrtn: "+=", max: "max=", min: "min=", mul: "*=" };

export function bagTicks(answer) {
  const { line } = answer.plan;
  const ticks = [];
  let before = null;
  (answer.steps?.list ?? []).forEach((step, at) => {
    const add = (where, phase, moves = false) => where !== null && ticks.push({ step: at, line: where, phase, moves });
    if (step.bag !== before) add(line.bag, "entry");
    before = step.bag;
    if (step.entry === null) {
      add(line.write, "write", true);
      return;
    }
    add(line.entry, "entry");
    add(line.read, "read");
    if (step.left_out) {
      add(line.unless ?? line.read ?? line.row, "left", true);
      return;
    }
    add(line.row, "row");
    add(line.row, "join", true);
  });
  return ticks;
}

const span = (first, count) => Array.from({ length: count }, (_, k) => first + k);

export function cellsOfBagTick(answer, tick) {
  const step = answer.steps.list[tick.step];
  const lit = { indices: [], grid: [], table: [], also: [] };
  const done = tick.step + (tick.moves ? 1 : 0);
  if (step.entry === null) return { ...lit, grid: tick.moves ? span(step.grid, step.count) : [], done };
  const has = (name) => answer.tensors.some((t) => t.name === name);
  if (tick.phase !== "entry" && has("indices")) lit.indices = [step.entry];
  if (tick.phase === "row" || tick.phase === "join") {
    if (step.data !== null) lit.table = span(step.data, step.count);
    if (has("weights")) lit.also.push(`weights:${step.entry}`);
  }
  if (tick.phase === "join") lit.grid = span(step.grid, step.count);
  return { ...lit, done };
}

// What the bags hold after the first `done` steps; null where nothing is yet.
export function bagsAfter(answer, done) {
  const values = Array(answer.tensors.at(-1).count).fill(null);
  for (const step of answer.steps.list.slice(0, done)) {
    if (step.entry !== null && step.pooled === 0) continue; // all that came were left out
    step.after.forEach((value, k) => {
      values[step.grid + k] = value;
    });
  }
  return values;
}

export function notesOfBagTick(answer, tick) {
  const step = answer.steps.list[tick.step];
  const { line } = answer.plan;
  const notes = { [line.bag]: `s = ${step.bag}` };
  if (step.entry === null) return notes;
  const note = (where, text) => {
    if (where !== null && where <= tick.line) notes[where] = text;
  };
  note(line.entry, `p = ${step.entry}`);
  note(line.read, step.row === null ? (step.left_out ? `${step.index}: left out` : `${step.index}: filled`) : `i = ${step.row}`);
  if (!step.left_out) note(line.row, rowText(step.product ?? step.values));
  return notes;
}

// "[6, 6.5, 7]", cut after a few.
export const rowText = (values) => `[${values.slice(0, 6).join(", ")}${values.length > 6 ? ", …" : ""}]`;

export function bagMoveText(answer, step) {
  const { pool } = answer.call;
  const sizes = answer.tensors.at(-1).sizes;
  const output = rangeName("output", step.grid, step.count, sizes);
  if (step.entry === null) {
    if (step.pooled === 0) return `${output} = ${answer.call.empty_value}: no rows`;
    return pool === "mean" ? `${output} /= ${step.pooled}` : pool === "sqrtn" ? `${output} /= √${step.pooled}`
      : `${output} is done`;
  }
  if (step.left_out) return `entry ${step.entry} is left out`;
  const data = answer.tensors[0];
  const row = step.data === null ? answer.call.fill_value : rangeName("data", step.data, step.count, data.sizes);
  const first = step.pooled === 1;
  const decoded = answer.call.encoding === "plain" ? row : `decode(${row})`;
  return `${output} ${first ? "=" : SIGNS[pool]} ${step.weight ? `${step.weight} * ` : ""}${decoded}`;
}

// What is said about a tick: read, decoded, weighted, added.
export function bagTickLines(answer, tick) {
  const step = answer.steps.list[tick.step];
  const lines = [bagMoveText(answer, step)];
  if (step.entry === null) return [...lines, `Bag ${step.bag}: ${rowText(step.after)}`];
  const where = answer.tensors.some((t) => t.name === "indices") ? `index ${step.index}` : `row ${step.index}`;
  if (step.left_out) return [...lines, `read: ${where}, left out`];
  lines.push(`read: ${where}`);
  if (step.stored) lines.push(`stored: ${step.stored}`);
  lines.push(`${step.stored ? "decoded" : "row"}: ${rowText(step.values)}`);
  if (step.product) lines.push(`weighted by ${step.weight}: ${rowText(step.product)}`);
  lines.push(`bag ${step.bag} is now ${rowText(step.after)}`);
  return lines;
}

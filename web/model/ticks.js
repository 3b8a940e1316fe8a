// SPDX-License-Identifier: MIT
//
// Running a plan line by line. A tick is one line of the plan at one point of its loops: the loops
// that moved on, each index that is read, then the move.

import { bagsAfter, bagTicks, cellsOfBagTick, notesOfBagTick } from "./bag/ticks.js";

// The lines of a plan's text: a heading, the loops, the coordinates, the move.
export function ticksOf(answer) {
  if (answer.bag) return bagTicks(answer);
  const { plan, steps } = answer;
  const ticks = [];
  let before = null;
  (steps?.list ?? []).forEach((step, at) => {
    let moved = before === null ? 0 : step.p.findIndex((p, l) => p !== before[l]);
    if (moved < 0) moved = step.p.length;
    for (let l = moved; l < plan.loops; ++l) ticks.push({ step: at, line: 1 + l, moves: false });
    for (let c = 0; c < plan.coordinates; ++c) {
      ticks.push({ step: at, line: 1 + plan.loops + c, coordinate: c, moves: false });
    }
    ticks.push({ step: at, line: 1 + plan.loops + plan.coordinates, moves: true });
    before = step.p;
  });
  return ticks;
}

// What is lit and written when `tick` runs: cells by tensor, and which steps are over.
export function cellsOfTick(answer, tick) {
  if (answer.bag) return cellsOfBagTick(answer, tick);
  const step = answer.steps.list[tick.step];
  const scatters = answer.call.scatters;
  const lit = { indices: [], grid: [], table: [] };
  if (tick.coordinate !== undefined) lit.indices = [step.reads[tick.coordinate]];
  if (tick.moves) {
    const span = (first) => Array.from({ length: step.count }, (_, k) => first + k);
    lit.indices = step.reads;
    lit.grid = span(step.grid);
    lit.table = step.data === null ? [] : span(step.data);
  }
  return { ...lit, scatters, done: tick.step + (tick.moves ? 1 : 0) };
}

// The output after the first `done` steps: values as text, null where nothing is written yet.
export function outputAfter(answer, done) {
  if (answer.bag) return bagsAfter(answer, done);
  const output = answer.tensors.at(-1);
  const { list, start } = answer.steps;
  if (done === list.length) return output.values; // a mean is divided at the very end
  const values = answer.call.scatters ? [...start] : Array(output.count).fill(null);
  for (const step of list.slice(0, done)) {
    for (let k = 0; k < step.count; ++k) {
      if (!answer.call.scatters) values[step.grid + k] = output.values[step.grid + k];
      else if (step.data !== null) values[step.data + k] = step.after[k];
    }
  }
  return values;
}

// Lines annotated with the values of this tick: "for p0 in 0..2" gets "p0 = 1".
export function notesOfTick(answer, tick) {
  if (answer.bag) return notesOfBagTick(answer, tick);
  const step = answer.steps.list[tick.step];
  const { loops, coordinates } = answer.plan;
  const notes = {};
  step.p.forEach((p, l) => {
    if (1 + l <= tick.line) notes[1 + l] = `p${l} = ${p}`;
  });
  for (let c = 0; c < coordinates; ++c) {
    const line = 1 + loops + c;
    if (line > tick.line) break;
    notes[line] = step.entries[c] === null ? `i${c} is out of range` : `i${c} = ${step.entries[c]}`;
  }
  return notes;
}

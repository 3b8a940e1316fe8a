// SPDX-License-Identifier: MIT
//
// What belongs to a cell, looked up in the library's element map: the cells and wires to light up,
// and the sentences about them. A cell is {tensor, element}.
import { nameOf } from "./positions.js";

export const cellKey = ({ tensor, element }) => `${tensor}:${element}`;
export function parseCell(text) {
  const [tensor, number] = (text ?? "").split(":");
  const element = Number(number);
  return tensor && Number.isInteger(element) && element >= 0 ? { tensor, element } : null;
}

// The map, turned round once for each answer.
export class Links {
  constructor(answer) {
    this.answer = answer;
    this.scatters = answer.call.scatters;
    this.grid = this.scatters ? "updates" : "output";
    this.table = this.scatters ? "output" : "data";
    this.tensors = Object.fromEntries(answer.tensors.map((t) => [t.name, t]));
    this.byTable = new Map();
    this.byIndex = new Map();
    const push = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
    (answer.map?.data ?? []).forEach((at, e) => {
      if (at >= 0) push(this.byTable, at, e);
      for (const index of this.indicesOf(e)) push(this.byIndex, index, e);
    });
  }

  // The index elements of a grid element's tuple.
  indicesOf(e) {
    const first = this.answer.map.index[e];
    const { length, step } = this.answer.tuple;
    return first < 0 ? [] : Array.from({ length }, (_, c) => first + c * step);
  }

  target(e) {
    const at = this.answer.map.data[e];
    return at < 0 ? null : at;
  }

  name(tensor, e) {
    return nameOf(tensor, e, this.tensors[tensor].sizes);
  }

  value(tensor, e) {
    return this.tensors[tensor].values?.[e] ?? "";
  }

  // The grid elements that a cell has to do with.
  gridElements({ tensor, element }) {
    if (!this.answer.map) return [];
    if (tensor === this.grid) return [element];
    if (tensor === "indices") return this.byIndex.get(element) ?? [];
    return this.byTable.get(element) ?? []; // data, or a scatter's output
  }

  // Wires of one grid element: grid -> each index -> table.
  wires(e) {
    const grid = { tensor: this.grid, element: e };
    const at = this.target(e);
    const table = at === null ? null : { tensor: this.table, element: at };
    const indices = this.indicesOf(e).map((element) => ({ tensor: "indices", element }));
    if (indices.length === 0) return table ? [[grid, table]] : [];
    return indices.flatMap((index) => [[grid, index], ...(table ? [[index, table]] : [])]);
  }

  // The cells that light up with one.
  litBy(cell) {
    const lit = this.gridElements(cell).flatMap((e) => {
      const at = this.target(e);
      return [{ tensor: this.grid, element: e }, ...this.indicesOf(e).map((element) => ({ tensor: "indices", element })),
        ...(at === null ? [] : [{ tensor: this.table, element: at }])];
    });
    return this.scatters && cell.tensor === "data" ? [...lit, { tensor: "output", element: cell.element }] : lit;
  }

  // The pairs of cells that a wire connects.
  pairsOf(cell) {
    if (this.scatters && cell.tensor === "data") return [[cell, { tensor: "output", element: cell.element }]];
    return this.gridElements(cell).flatMap((e) => this.wires(e));
  }

  pairsOfTick(tick) {
    const step = this.answer.steps.list[tick.step];
    return tick.moves ? this.wires(step.grid) : [];
  }

  // What a cell holds, in a sentence or two.
  describe(cell) {
    const { tensor, element } = cell;
    const title = `${this.name(tensor, element)} = ${this.value(tensor, element) || "?"}`;
    if (!this.answer.map) return { title, lines: [] };
    if (tensor === this.grid) {
      return { title, lines: [this.answer.map.formulas[element]] };
    }
    const grid = this.gridElements(cell);
    if (tensor === "indices") {
      const verb = this.scatters ? "It says where these go" : "It decides where these come from";
      return { title, lines: grid.length ? [`${verb}: ${this.listed(this.grid, grid)}.`] : ["No element uses it."] };
    }
    if (this.scatters && tensor === "data") {
      return { title, lines: [this.answer.call.onto_zeros ? "Not read: the output starts from zeros."
        : `The output starts from it: ${this.name("output", element)}.`] };
    }
    if (this.scatters) return { title, lines: this.scatterLines(element, grid) };
    return { title, lines: [grid.length ? `It goes to ${this.listed("output", grid)}.`
      : "It goes nowhere: no index picks it."] };
  }

  scatterLines(element, grid) {
    if (grid.length === 0) return ["No update goes here: it keeps the base."];
    return [grid.length === 1 ? `One update goes here: ${this.listed("updates", grid)}.`
      : `${grid.length} updates meet here, in this order:`];
  }

  // How a scatter's cell grows: [{update, value}], after the start.
  growth(element) {
    const { steps } = this.answer;
    if (!this.scatters || !steps?.list?.length) return null;
    const updates = [];
    for (const step of steps.list) {
      if (step.data === null || element < step.data || element >= step.data + step.count) continue;
      const offset = element - step.data;
      updates.push({ update: step.grid + offset, value: step.after[offset] });
    }
    return { start: steps.start[element], updates, end: this.value("output", element) };
  }

  listed(tensor, elements) {
    const shown = elements.slice(0, 8).map((e) => this.name(tensor, e));
    const rest = elements.length - shown.length;
    if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
    return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
  }
}

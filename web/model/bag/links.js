// SPDX-License-Identifier: MIT
//
// What belongs to a cell of a bag, as links.js has it for gathers and scatters: an entry picks a row of data,
// by its index, and adds it to its bag, a row of the output.
import { nameOf } from "../positions.js";

const SEGMENTS = ["offsets", "lengths", "ids"];

export class BagLinks {
  constructor(answer) {
    this.answer = answer;
    this.scatters = false;
    this.grid = "output";
    this.table = "data";
    this.tensors = Object.fromEntries(answer.tensors.map((t) => [t.name, t]));
    this.entries = answer.entries ?? [];
    this.elements = Math.max(1, answer.call.elements);
  }

  name(tensor, e) {
    return nameOf(tensor, e, this.tensors[tensor].sizes);
  }

  value(tensor, e) {
    return this.tensors[tensor].values?.[e] ?? "";
  }

  // The numbers of the entries that a cell has to do with.
  entriesOf({ tensor, element }) {
    const row = Math.floor(element / this.elements);
    const all = this.entries.map((_, p) => p);
    if (tensor === "data") return all.filter((p) => this.entries[p].row === row && !this.entries[p].left_out);
    if (tensor === "output") return all.filter((p) => this.entries[p].bag === row);
    if (tensor === "offsets" || tensor === "lengths") return all.filter((p) => this.entries[p].bag === element);
    return element < all.length ? [element] : [];
  }

  // The cells of an entry; `column`: only that element of its rows.
  cellsOf(p, column) {
    const { bag, row, left_out } = this.entries[p];
    const across = (tensor, first) => (column === null ? Array.from({ length: this.elements }, (_, j) => j) : [column])
      .map((j) => ({ tensor, element: first * this.elements + j }));
    const one = (tensor) => (this.tensors[tensor] ? [{ tensor, element: p }] : []);
    return [...one("indices"), ...one("weights"), ...one("ids"),
      ...(row === null || left_out ? [] : across("data", row)), ...(bag === null ? [] : across("output", bag))];
  }

  columnOf({ tensor, element }) {
    return tensor === "data" || tensor === "output" ? element % this.elements : null;
  }

  litBy(cell) {
    const column = this.columnOf(cell);
    return [cell, ...this.entriesOf(cell).flatMap((p) => this.cellsOf(p, column))];
  }

  // Wires of an entry, at one column: output -> index -> data.
  wires(p, column) {
    const { bag, row, left_out } = this.entries[p];
    if (bag === null || left_out) return [];
    const output = { tensor: "output", element: bag * this.elements + column };
    const data = row === null ? null : { tensor: "data", element: row * this.elements + column };
    if (!this.tensors.indices) return data ? [[output, data]] : [];
    const index = { tensor: "indices", element: p };
    return [[output, index], ...(data ? [[index, data]] : [])];
  }

  pairsOf(cell) {
    return this.entriesOf(cell).flatMap((p) => this.wires(p, this.columnOf(cell) ?? 0));
  }

  pairsOfTick(tick) {
    const { entry } = this.answer.steps.list[tick.step];
    return entry === null || tick.phase === "entry" ? [] : this.wires(entry, 0);
  }

  // Rows of data by their number; what has one row alone has its colour.
  color(tensor, e) {
    if (tensor === "data") return Math.floor(e / this.elements);
    if (tensor === "scales" || tensor === "zeros" || tensor === "offsets" || tensor === "lengths") return null;
    const rows = new Set(this.entriesOf({ tensor, element: e }).filter((p) => !this.entries[p].left_out)
      .map((p) => this.entries[p].row));
    const [row] = rows;
    return rows.size === 1 && row !== null ? row : null;
  }

  // What a cell holds, in a sentence or two.
  describe(cell) {
    const { tensor, element } = cell;
    const title = `${this.name(tensor, element)} = ${this.value(tensor, element) || "?"}`;
    if (!this.answer.entries) return { title, lines: [] };
    const entries = this.entriesOf(cell);
    if (tensor === "output") return { title, lines: [this.poolText(element)] };
    if (tensor === "data") {
      const bags = [...new Set(entries.map((p) => this.entries[p].bag))].filter((bag) => bag !== null);
      return { title, lines: [bags.length ? `It goes into ${bags.map((bag) => `bag ${bag}`).join(", ")}.`
        : "It goes nowhere: no index picks it."] };
    }
    if (SEGMENTS.includes(tensor)) {
      const bag = tensor === "ids" ? this.entries[element]?.bag : element;
      const count = entries.length;
      return { title, lines: [tensor === "ids" ? `Entry ${element} is in bag ${bag}.`
        : `Bag ${bag} has ${count} ${count === 1 ? "entry" : "entries"}.`] };
    }
    if (tensor === "scales" || tensor === "zeros") return { title, lines: ["Used to decode rows of data."] };
    const { bag, row, left_out } = this.entries[element] ?? {};
    const what = left_out ? "left out" : row === null ? "filled" : `row ${row} of data`;
    return { title, lines: [bag === null || bag === undefined ? `Entry ${element} is in no bag.`
      : `Entry ${element} of bag ${bag}: ${what}.`] };
  }

  // "mean of data[4, 1] * weights[0] = 13 and data[0, 1] * weights[1] = 1"
  poolText(element) {
    const bag = Math.floor(element / this.elements);
    const column = element % this.elements;
    const entries = this.entriesOf({ tensor: "output", element }).filter((p) => !this.entries[p].left_out);
    if (!entries.length) return `Bag ${bag} has no rows: it is ${this.answer.call.empty_value}.`;
    const term = (p) => {
      const { row } = this.entries[p];
      const weight = this.tensors.weights ? ` * ${this.value("weights", p)}` : "";
      return (row === null ? this.answer.call.fill_value
        : this.value("data", row * this.elements + column)) + weight;
    };
    const shown = entries.slice(0, 8).map(term);
    const rest = entries.length - shown.length;
    return `${this.answer.call.pool} of ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  }
}

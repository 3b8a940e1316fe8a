// SPDX-License-Identifier: MIT
//
// The picture: all tensors of a call, the wires between their cells, and what is lit.
import { isEditable } from "../model/bag/others.js";
import { cellKey } from "../model/links.js";
import { cellsOfTick, outputAfter } from "../model/ticks.js";
import { element, svgElement } from "./dom.js";
import { scaleFor } from "./scale.js";
import { TensorView } from "./tensor.js";

// More wires than this are a smear; the cells stay lit.
const MOST_WIRES = 48;

const ORDER = { gather: ["data", "indices", "output"], scatter: ["data", "updates", "indices", "output"] };

export class Stage {
  // `on`: {point(cell), leave(), pin(cell), edit(cell, node)}, without `edit` if values cannot be changed.
  // `prefix` tells the ids of a second picture from those of the first.
  constructor(node, on, prefix = "") {
    this.node = node;
    this.on = on;
    this.prefix = prefix;
    this.different = null; // the element of the output that is marked
    this.views = new Map();
    this.wires = svgElement("svg", { class: "wires", "aria-hidden": "true" });
    this.shown = { cell: null, tick: null };
    new ResizeObserver(() => this.fit()).observe(node);
  }

  // Draws an answer from anew. Focus stays in the tensor that has it.
  draw(answer, links) {
    this.answer = answer;
    this.links = links;
    this.shown = { cell: null, tick: null };
    const focused = document.activeElement?.closest?.("[data-tensor]")?.dataset.tensor;
    const active = new Map([...this.views].map(([name, view]) => [name, view.active]));
    this.outside = new Set(answer.out_of_range ?? []);
    this.marks = new Map();
    this.views.clear();
    if (!answer.drawn) {
      this.node.replaceChildren(element("p", { class: "note big" },
        "Too large to draw: a tensor has more than 16,384 elements. The plan and the kernels are below."));
      return;
    }
    this.written = answer.tensors.at(-1).values ?? null;
    const order = answer.bag ? answer.tensors.map((t) => t.name) : ORDER[answer.call.scatters ? "scatter" : "gather"];
    for (const name of order) this.add(name);
    // Vectors are read best below each other.
    this.node.classList.toggle("rows", answer.tensors.every((t) => t.sizes.length <= 1));
    this.node.replaceChildren(...[...this.views.values()].map((view) => view.node), this.wires);
    this.fit();
    for (const [name, view] of this.views) {
      view.active = Math.min(active.get(name) ?? 0, Math.max(0, view.tensor.count - 1));
      if (view.tensor.count > 800) view.draw();
    }
    if (focused && this.views.has(focused)) this.views.get(focused).svg.focus({ preventScroll: true });
  }

  // As large as the card allows.
  fit() {
    if (this.views.size) {
      const boxes = [...this.views.values()].map((view) => ({
        width: view.layout.width + 2, height: view.layout.height, caption: view.caption.scrollWidth,
      }));
      const scale = scaleFor(boxes, this.node.clientWidth - 8, this.node.classList.contains("rows"));
      for (const view of this.views.values()) view.resize(scale);
    }
    this.drawWires();
  }

  add(name) {
    const tensor = this.links.tensors[name];
    const cell = (e) => ({ tensor: name, element: e });
    const look = {
      editable: name !== "output" && this.on.edit !== undefined && (!this.answer.bag || isEditable(this.answer, name)),
      remark: tensor.given || name === "output" ? "" : "made up",
      color: (e) => this.color(name, e),
      text: (e) => (name === "output" ? this.written?.[e] ?? "·" : tensor.values[e]),
      label: (e) => this.label(name, e),
      classes: (e) => this.classes(name, e),
    };
    // An output that grows must not change its width.
    this.views.set(name, new TensorView(tensor, look, {
      point: (e) => this.on.point(cell(e)),
      leave: () => this.on.leave(),
      pin: (e) => this.on.pin(cell(e)),
      edit: (e, node) => this.on.edit(cell(e), node),
      moved: () => this.drawWires(),
    }, this.prefix));
  }

  // Elements have the colour of the part of data that an index picks; null is plain.
  color(name, e) {
    if (this.answer.bag) return this.links.color(name, e);
    const { colors, map, call } = this.answer;
    if (name === "data" || (call.scatters && name === "output")) return colors[e];
    if (name === this.links.grid && map) {
      const at = this.links.target(e);
      return at === null ? null : colors[at];
    }
    return name === "indices" ? this.indexColor(e) : null;
  }

  // That of what the index picks, if all of it has one colour.
  indexColor(e) {
    const picked = this.links.gridElements({ tensor: "indices", element: e }).map((g) => this.links.target(g));
    const [first] = picked;
    const same = first !== undefined && first !== null &&
      picked.every((at) => at !== null && this.answer.colors[at] === this.answer.colors[first]);
    return same ? this.answer.colors[first] : null;
  }

  label(name, e) {
    const value = name === "output" ? this.written?.[e] ?? "not written" : this.links.value(name, e);
    const outside = name === "indices" && this.outside.has(e) ? ", out of range" : "";
    return value + outside + (this.marked(name, e) ? ", the first that differs" : "");
  }

  marked(name, e) {
    return name === "output" && e === this.different;
  }

  classes(name, e) {
    const classes = [];
    if (name === "indices" && this.outside.has(e)) classes.push("outside");
    if (name === "output" && (this.written?.[e] ?? null) === null) classes.push("unwritten");
    if (this.marked(name, e)) classes.push("differs");
    const mark = this.marks.get(`${name}:${e}`);
    if (mark) classes.push(mark);
    return classes.join(" ");
  }

  // Lights what belongs to a pointed-at cell, or to a tick of the run; `start` is before its first tick.
  show({ cell, tick, start = false }) {
    if (!this.answer?.drawn) return;
    this.shown = { cell, tick };
    this.marks = new Map();
    this.written = this.answer.tensors.at(-1).values ?? null;
    if (start && this.answer.steps) this.written = outputAfter(this.answer, 0);
    if (tick) this.markTick(tick);
    else if (cell) this.markCell(cell);
    this.node.classList.toggle("pointing", this.marks.size > 0);
    for (const view of this.views.values()) view.restyle();
    if (tick || cell) this.follow();
    this.drawWires();
  }

  markCell(cell) {
    for (const lit of this.links.litBy(cell)) this.marks.set(cellKey(lit), "lit");
    this.marks.set(cellKey(cell), "pointed");
  }

  markTick(tick) {
    const lit = cellsOfTick(this.answer, tick);
    for (const e of lit.indices) this.marks.set(`indices:${e}`, "lit");
    for (const e of lit.grid) this.marks.set(`${this.links.grid}:${e}`, "lit");
    for (const e of lit.table) this.marks.set(`${this.links.table}:${e}`, "lit");
    for (const key of lit.also ?? []) this.marks.set(key, "lit");
    this.written = outputAfter(this.answer, lit.done);
  }

  // The pairs of cells that a wire connects.
  pairs() {
    const { cell, tick } = this.shown;
    if (!this.answer?.map && !this.answer?.entries) return [];
    if (tick) return this.links.pairsOfTick(tick);
    if (!cell) return [];
    const all = this.links.pairsOf(cell);
    const unique = new Map(all.map((pair) => [pair.map(cellKey).join(">"), pair]));
    return [...unique.values()];
  }

  // Large tensors scroll to what is lit.
  follow() {
    const { cell } = this.shown;
    for (const [name, view] of this.views) {
      if (cell && cell.tensor === name) continue;
      const marked = [...this.marks.keys()].find((key) => key.startsWith(name + ":"));
      if (marked && view.tensor.count) view.show(Number(marked.split(":")[1]));
    }
  }

  drawWires() {
    const box = this.node.getBoundingClientRect();
    this.wires.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const pairs = this.pairs().slice(0, MOST_WIRES);
    const at = ({ tensor, element: e }) => {
      const point = this.views.get(tensor).point(e);
      return { ...point, x: point.x - box.left, y: point.y - box.top };
    };
    const upright = this.node.classList.contains("rows");
    this.wires.replaceChildren(...pairs.flatMap(([from, to]) => wire(at(from), at(to), from, to, upright)));
  }
}

// A curve between two cells, given by their middles and half sizes: from edge to edge. It leaves and
// enters level, below the middle so that it does not cross out the values it passes, or upright
// where cells stand above each other.
export function curve(a, b, upright = false) {
  const beside = Math.abs(b.y - a.y) < a.h + b.h;
  const level = beside || (!upright && Math.abs(b.x - a.x) > (a.w + b.w) * 0.9);
  const toward = (from, to, axis, half) => from[axis] + Math.sign(to[axis] - from[axis]) * half;
  const low = (cell) => cell.y + cell.h * 0.68;
  const start = level ? { x: toward(a, b, "x", a.w), y: low(a) } : { x: a.x, y: toward(a, b, "y", a.h) };
  const end = level ? { x: toward(b, a, "x", b.w), y: low(b) } : { x: b.x, y: toward(b, a, "y", b.h) };
  const dx = (end.x - start.x) / 2;
  const dy = (end.y - start.y) / 2;
  const path = level
    ? `M${start.x} ${start.y}C${start.x + dx} ${start.y} ${end.x - dx} ${end.y} ${end.x} ${end.y}`
    : `M${start.x} ${start.y}C${start.x} ${start.y + dy} ${end.x} ${end.y - dy} ${end.x} ${end.y}`;
  return { path, end };
}

function wire(a, b, from, to, upright) {
  const { path, end } = curve(a, b, upright);
  return [
    svgElement("path", { class: "wire", d: path, "data-from": cellKey(from), "data-to": cellKey(to) }),
    svgElement("circle", { class: "wire-end", cx: end.x, cy: end.y, r: 3.5 }),
  ];
}

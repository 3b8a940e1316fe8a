// SPDX-License-Identifier: MIT
//
// One tensor as a picture and as an ARIA grid: a row for each run of the last dimension. Only the
// cells near the window are in the page, so that tensors may be large.
import { element, svgElement } from "./dom.js";
import { nameOf } from "../model/positions.js";
import { CELL_HEIGHT, cellWidthFor, layOut } from "./layout.js";

const MARGIN = 200;
const MOST_AT_ONCE = 800;

// Neighbouring colours differ, however many there are: steps of the golden angle.
export const hueOf = (color) => Math.round((color * 137.508) % 360);

export class TensorView {
  // `on`: {point(element), leave(), pin(element), edit(element, node)}; `prefix` makes ids of a second picture differ.
  constructor(tensor, look, on, prefix = "") {
    this.tensor = tensor;
    this.look = look; // {color(e), text(e), label(e), classes(e), editable}
    this.on = on;
    this.active = 0;
    this.scale = 1;
    this.id = `${prefix}grid-${tensor.name}`;
    this.nodes = new Map();
    this.build();
  }

  build() {
    const { tensor } = this;
    const texts = Array.from({ length: tensor.count }, (_, e) => this.look.text(e));
    this.layout = layOut(tensor.sizes, this.look.cellWidth ?? cellWidthFor(texts),
      window.innerWidth < 640);
    const { width, height } = this.layout;
    this.svg = svgElement("svg", {
      width: width + 2, height: height + 2, viewBox: `-1 -1 ${width + 2} ${height + 2}`,
      role: "grid", tabindex: 0, id: this.id, "aria-labelledby": `${this.id}-name`,
      "aria-readonly": this.look.editable ? "false" : "true",
      "aria-rowcount": Math.max(1, tensor.count / Math.max(1, this.layout.columns)),
      "aria-colcount": this.layout.columns,
    });
    this.scroll = element("div", { class: "scroll" }, this.svg);
    const shape = element("span", { class: "shape mono" }, `${tensor.dtype}[${tensor.sizes.join(", ")}]`);
    this.caption = element("figcaption", { id: `${this.id}-name` }, element("b", {}, tensor.name), " ", shape,
      this.look.remark ? element("span", { class: "remark" }, this.look.remark) : null);
    this.node = element("figure", { class: "tensor", "data-tensor": tensor.name }, this.caption, this.scroll);
    if (tensor.count === 0) {
      this.scroll.append(element("p", { class: "note" }, "no elements"));
    }
    this.listen();
    this.draw();
  }

  listen() {
    const elementAt = (event) => {
      const cell = event.target.closest?.("[data-e]");
      return cell ? Number(cell.dataset.e) : null;
    };
    this.svg.addEventListener("pointermove", (event) => {
      const e = elementAt(event);
      if (e !== null) this.on.point(e);
    });
    this.svg.addEventListener("pointerleave", () => this.on.leave());
    this.svg.addEventListener("click", (event) => {
      const e = elementAt(event);
      if (e !== null) {
        this.setActive(e);
        this.on.pin(e);
      }
    });
    this.svg.addEventListener("dblclick", (event) => {
      const e = elementAt(event);
      if (e !== null && this.look.editable) this.on.edit(e, this.nodes.get(e));
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("focus", () => this.markActive());
    this.scroll.addEventListener("scroll", () => {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        if (this.tensor.count > MOST_AT_ONCE) this.draw();
        this.on.moved?.();
      });
    });
  }

  key(event) {
    const { columns, rows } = this.layout;
    const steps = {
      ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns,
      PageDown: columns * rows, PageUp: -columns * rows,
    };
    const last = this.tensor.count - 1;
    let next = this.active;
    if (event.key in steps) next += steps[event.key];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = last;
    else if (event.key === "Enter" && this.look.editable) {
      event.preventDefault();
      this.on.edit(this.active, this.nodes.get(this.active));
      return;
    } else if (event.key === " ") {
      event.preventDefault();
      this.on.pin(this.active);
      return;
    } else return;
    event.preventDefault();
    if (next < 0 || next > last) return;
    this.setActive(next);
    this.on.pin(next);
  }

  setActive(e) {
    this.active = e;
    this.show(e);
    this.markActive();
  }

  markActive() {
    for (const node of this.svg.querySelectorAll(".active")) node.classList.remove("active");
    this.nodes.get(this.active)?.classList.add("active");
    if (this.tensor.count) {
      this.svg.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    }
  }

  // Draws everything `scale` times as large.
  resize(scale) {
    this.scale = scale;
    this.svg.setAttribute("width", (this.layout.width + 2) * scale);
    this.svg.setAttribute("height", (this.layout.height + 2) * scale);
  }

  // Where a cell is inside the window it scrolls in, in pixels of the screen.
  place(e) {
    const { x, y } = this.layout.place(e);
    return { x: x * this.scale, y: y * this.scale };
  }

  // Scrolls the element into the window, no further than needed.
  show(e) {
    const { x, y } = this.place(e);
    const { scroll } = this;
    const across = this.layout.cellWidth * this.scale;
    const down = CELL_HEIGHT * this.scale;
    if (x < scroll.scrollLeft) scroll.scrollLeft = x - 8;
    else if (x + across > scroll.scrollLeft + scroll.clientWidth) {
      scroll.scrollLeft = x + across + 8 - scroll.clientWidth;
    }
    if (y < scroll.scrollTop) scroll.scrollTop = y - 8;
    else if (y + down > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = y + down + 8 - scroll.clientHeight;
    }
    if (this.tensor.count > MOST_AT_ONCE && !this.nodes.has(e)) this.draw();
  }

  // The elements whose cells are near the window; all of a small tensor.
  visible() {
    const all = Array.from({ length: this.tensor.count }, (_, e) => e);
    if (this.tensor.count <= MOST_AT_ONCE) return all;
    const { scrollLeft, scrollTop } = this.scroll;
    const right = scrollLeft + (this.scroll.clientWidth || 600) + MARGIN;
    const bottom = scrollTop + (this.scroll.clientHeight || 400) + MARGIN;
    return all.filter((e) => {
      const { x, y } = this.place(e);
      return x > scrollLeft - MARGIN && x < right && y > scrollTop - MARGIN && y < bottom;
    });
  }

  draw() {
    const rows = new Map();
    this.nodes.clear();
    for (const e of this.visible()) {
      const row = Math.floor(e / this.layout.columns);
      if (!rows.has(row)) rows.set(row, svgElement("g", { role: "row", "aria-rowindex": row + 1 }));
      const cell = this.cell(e);
      this.nodes.set(e, cell);
      rows.get(row).append(cell);
    }
    this.svg.replaceChildren(this.labels(), ...rows.values());
    this.restyle();
  }

  cell(e) {
    const { x, y } = this.layout.place(e);
    const { cellWidth } = this.layout;
    const color = this.look.color(e);
    return svgElement("g", {
      role: "gridcell", id: `${this.id}-${e}`, "data-e": e,
      "aria-colindex": (e % this.layout.columns) + 1,
      style: color === null ? "" : `--hue:${hueOf(color)}`,
      class: color === null ? "cell plain" : "cell",
      transform: `translate(${x} ${y})`,
    },
    svgElement("rect", { x: 1, y: 1, width: cellWidth - 2, height: CELL_HEIGHT - 2, rx: 4 }),
    svgElement("text", { x: cellWidth / 2, y: CELL_HEIGHT / 2, dy: "0.36em" }));
  }

  labels() {
    const { blocks, rows, columns, left, top, cellWidth } = this.layout;
    const group = svgElement("g", { class: "labels", "aria-hidden": "true" });
    if (blocks.length > 64 || this.tensor.sizes.length === 0) return group;
    const text = (x, y, value, anchor) =>
      group.append(svgElement("text", { x, y, "text-anchor": anchor }, String(value)));
    for (const block of blocks) {
      if (block.name) text(block.x + left, block.y + 12, block.name, "start");
      for (let c = 0; c < columns && c < 256; ++c) {
        text(block.x + left + (c + 0.5) * cellWidth, block.y + top - 5, c, "middle");
      }
      for (let r = 0; left && r < rows && r < 256; ++r) {
        text(block.x + left - 6, block.y + top + (r + 0.5) * CELL_HEIGHT + 4, r, "end");
      }
    }
    return group;
  }

  // Texts and classes follow the state; the cells stay.
  restyle() {
    for (const [e, node] of this.nodes) {
      const text = this.look.text(e);
      const shown = text.length > 10 ? text.slice(0, 9) + "…" : text;
      if (node.lastChild.textContent !== shown) node.lastChild.textContent = shown;
      const plain = node.classList.contains("plain") ? " plain" : "";
      node.setAttribute("class", `cell${plain} ${this.look.classes(e)}`.trim());
      node.setAttribute("aria-label", `${nameOf(this.tensor.name, e, this.tensor.sizes)} = ${this.look.label(e)}`);
    }
    if (document.activeElement === this.svg) this.markActive();
  }

  // The middle of a cell on the screen and half its size, held inside the window it scrolls in.
  point(e) {
    const box = this.svg.getBoundingClientRect();
    const frame = this.scroll.getBoundingClientRect();
    const { scale } = this;
    const { x, y } = this.place(e);
    const cx = box.left + scale + x + (this.layout.cellWidth * scale) / 2;
    const cy = box.top + scale + y + (CELL_HEIGHT * scale) / 2;
    return {
      x: Math.min(Math.max(cx, frame.left), frame.right),
      y: Math.min(Math.max(cy, frame.top), frame.bottom),
      w: (this.layout.cellWidth / 2 - 1) * scale,
      h: (CELL_HEIGHT / 2 - 1) * scale,
    };
  }
}

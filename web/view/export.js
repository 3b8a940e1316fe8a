// SPDX-License-Identifier: MIT
//
// The picture as a file: one SVG that stands alone, with the styles of its cells written into them,
// and a PNG of it.
import { svgElement } from "./dom.js";
import { CELL_HEIGHT } from "./layout.js";
import { curve } from "./stage.js";

const PADDING = 24;
const TITLE = 26;
const COPIED = ["fill", "stroke", "stroke-width", "font", "text-anchor", "opacity", "font-weight", "dominant-baseline"];

function inlined(node) {
  const copy = node.cloneNode(true);
  const originals = [node, ...node.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((each, i) => {
    const style = getComputedStyle(originals[i]);
    each.setAttribute("style", COPIED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    for (const name of ["class", "role", "id", "tabindex", "data-e"]) each.removeAttribute(name);
    for (const { name } of [...each.attributes]) if (name.startsWith("aria-")) each.removeAttribute(name);
  });
  return copy;
}

// Tensors side by side, as large as they are: an exported picture has no scroll bars.
export function pictureSvg(stage, caption) {
  const ink = getComputedStyle(document.body).color;
  const paper = getComputedStyle(document.body).backgroundColor;
  const text = (x, y, value, style) => svgElement("text", { x, y, style: `fill:${ink};font:${style}` }, value);
  const picture = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg" });
  const origins = new Map();
  let left = PADDING;
  let height = 0;
  const parts = [];
  for (const [name, view] of stage.views) {
    const title = `${name} ${view.tensor.dtype}[${view.tensor.sizes.join(", ")}]`;
    const top = PADDING + TITLE * 2;
    parts.push(text(left, top - 10, title, "600 13px system-ui, sans-serif"));
    const drawing = inlined(view.svg);
    drawing.setAttribute("x", left);
    drawing.setAttribute("y", top);
    parts.push(drawing);
    origins.set(name, { x: left + 1, y: top + 1 });
    left += Math.max(view.layout.width, title.length * 7.5) + PADDING * 1.5;
    height = Math.max(height, top + view.layout.height + PADDING);
  }
  const width = Math.max(left - PADDING / 2, caption.length * 8 + 2 * PADDING);
  const place = ({ tensor, element }) => {
    const view = stage.views.get(tensor);
    const { x, y } = view.layout.place(element);
    const origin = origins.get(tensor);
    const w = view.layout.cellWidth / 2;
    const h = CELL_HEIGHT / 2;
    return { x: origin.x + x + w, y: origin.y + y + h, w: w - 1, h: h - 1 };
  };
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  const wires = stage.pairs().map(([from, to]) => svgElement("path", {
    d: curve(place(from), place(to)).path, style: `fill:none;stroke:${accent};stroke-width:2`,
  }));
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    picture.setAttribute(key, value);
  }
  picture.append(svgElement("rect", { width, height, style: `fill:${paper}` }),
    text(PADDING, PADDING + 8, caption, "600 15px ui-monospace, monospace"), ...parts, ...wires);
  return picture;
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function saveSvg(stage, caption) {
  const text = new XMLSerializer().serializeToString(pictureSvg(stage, caption));
  save(new Blob([text], { type: "image/svg+xml" }), "sheaf.svg");
}

// Twice the size, for screens with many pixels.
export async function savePng(stage, caption) {
  const picture = pictureSvg(stage, caption);
  const image = new Image();
  const text = new XMLSerializer().serializeToString(picture);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(Number(picture.getAttribute("width")) * 2);
  canvas.height = Math.ceil(Number(picture.getAttribute("height")) * 2);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  save(blob, "sheaf.png");
}

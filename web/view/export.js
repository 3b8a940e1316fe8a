// SPDX-License-Identifier: MIT
//
// The picture as a file: one SVG that stands alone, with the styles of its cells written into them,
// a PNG of it, and an animated PNG of the run.
import { ticksOf } from "../model/ticks.js";
import { animatedPng } from "./apng.js";
import { svgElement } from "./dom.js";
import { CELL_HEIGHT } from "./layout.js";
import { curve } from "./stage.js";

const PADDING = 24;
const TITLE = 26;
const FRAME_MS = 700;
const LAST_MS = 2400;
const MOST_FRAMES = 60;
const COPIED = ["fill", "stroke", "stroke-width", "font", "text-anchor", "opacity", "font-weight", "dominant-baseline"];

// Elements of the same classes and colours, in parents of the same, look alike: each look is computed once.
function lookOf(node, looks) {
  const own = ({ tagName, attributes }) => `${tagName} ${attributes.class?.value} ${attributes.style?.value}`;
  const key = own(node) + own(node.parentNode);
  if (!looks.has(key)) {
    const style = getComputedStyle(node);
    looks.set(key, COPIED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  }
  return looks.get(key);
}

function inlined(node) {
  const copy = node.cloneNode(true);
  const originals = [node, ...node.querySelectorAll("*")];
  const looks = new Map();
  [copy, ...copy.querySelectorAll("*")].forEach((each, i) => {
    each.setAttribute("style", lookOf(originals[i], looks));
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
    drawing.setAttribute("width", view.layout.width + 2);
    drawing.setAttribute("height", view.layout.height + 2);
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

export function saveSvg(picture) {
  const text = new XMLSerializer().serializeToString(picture);
  save(new Blob([text], { type: "image/svg+xml" }), "sheaf.svg");
}

async function pngBlob(picture, scale) {
  const image = new Image();
  const text = new XMLSerializer().serializeToString(picture);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(Number(picture.getAttribute("width")) * scale);
  canvas.height = Math.ceil(Number(picture.getAttribute("height")) * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Twice the size, for screens with many pixels.
export async function savePng(picture) {
  save(await pngBlob(picture, 2), "sheaf.png");
}

// A frame before the first move and one after each; long runs leave out moves evenly. `stage` is left as the
// last frame has it.
export async function saveSteps(stage, caption) {
  const moves = stage.answer.steps?.list.length ?? 0;
  const by = Math.ceil(moves / MOST_FRAMES) || 1;
  const shown = Array.from({ length: Math.ceil(moves / by) }, (_, i) => Math.min(moves, (i + 1) * by));
  const ticks = ticksOf(stage.answer);
  const frames = [];
  // Colours that fade in would be those of the move before.
  document.body.classList.add("still");
  for (const move of [0, ...shown]) {
    // Whatever is pointed at meanwhile: the picture is taken at once.
    const tick = move ? ticks.find((each) => each.step === move - 1 && each.moves) : null;
    stage.show({ cell: null, tick, start: move === 0 });
    const blob = await pngBlob(pictureSvg(stage, caption), 1);
    frames.push({ png: new Uint8Array(await blob.arrayBuffer()), ms: move === moves ? LAST_MS : FRAME_MS });
  }
  document.body.classList.remove("still");
  save(animatedPng(frames), "sheaf-steps.png");
}

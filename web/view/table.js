// SPDX-License-Identifier: MIT
//
// Rows of a table that lies anywhere: the picture that the library draws of their way, in the page's colours.
import { byId, element } from "./dom.js";

// The library's picture has colours for pages that it knows nothing about; here it has the page's. In a
// shadow root, so that its names stay its own.
const STYLE = `:host { display: block; overflow-x: auto; }
svg { display: block; }
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--ink); }
.f { fill: var(--soft); } .c { fill: #111; } .w { fill: #fff; }`;

const parsed = (answer) => new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;

// As large as the card allows, up to 1.6 times; wider ones scroll.
function pictureOf(answer, label) {
  const svg = parsed(answer);
  svg.querySelector("style")?.remove();
  const [width, height] = ["width", "height"].map((name) => Number(svg.getAttribute(name)));
  const scale = Math.max(1, Math.min(1.6, (byId("stage").clientWidth - 8) / width));
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
  const host = element("div", { class: "drawn", role: "img", "aria-label": label });
  host.attachShadow({ mode: "open" }).append(element("style", {}, STYLE), document.importNode(svg, true));
  return host;
}

export function showTable(answer, problem) {
  byId("call-text").textContent = "sheaf::run(plan, table, indices, output, queue)";
  byId("summary").textContent = `Rows ${answer.journey}${answer.made_up ? "; the indices are made up" : ""}.`;
  byId("formula").textContent = answer.formula;
  byId("objections").replaceChildren();
  byId("operator").value = "";
  byId("plan-lines").replaceChildren(...answer.ways.map((line) => element("li", {}, element("span", { class: "code" }, line))));
  byId("stage").replaceChildren(answer.svg ? pictureOf(answer, `${problem}: rows ${answer.journey}`)
    : element("p", { class: "note big" }, "Too large to draw. The ways are below."));
}

// The picture that the library drew, on the page's ground.
export function tableSvg(answer) {
  const svg = parsed(answer);
  const { backgroundColor, color } = getComputedStyle(document.body);
  svg.setAttribute("style", `background:${backgroundColor};color:${color}`);
  return svg;
}

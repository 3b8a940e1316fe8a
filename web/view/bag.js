// SPDX-License-Identifier: MIT
//
// A bag: the picture that the library draws of it, in the page's colours, and its plan.
import { byId, element } from "./dom.js";

// The library's picture has colours for pages that it knows nothing about; here it has the page's. In a
// shadow root, so that its names stay its own.
const STYLE = `:host { display: block; overflow-x: auto; }
svg { display: block; }
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--ink); }
.f { fill: var(--soft); } .c { fill: #111; } .w { fill: #fff; }`;

// What the list of operators has for it.
export const BAG = "sheaf.bag";

export function bagPicture(answer, label) {
  const svg = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  svg.querySelector("style")?.remove();
  const host = element("div", { class: "drawn", role: "img", "aria-label": label });
  host.attachShadow({ mode: "open" }).append(element("style", {}, STYLE), document.importNode(svg, true));
  return { host, width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
}

// As large as the card allows, up to 1.6 times; wider ones scroll.
function fit({ host, width, height }) {
  const scale = Math.max(1, Math.min(1.6, (byId("stage").clientWidth - 8) / width));
  const svg = host.shadowRoot.querySelector("svg");
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
}

export function showBag(answer, problem) {
  byId("call-text").textContent = "sheaf.bag(data, indices, …)";
  byId("summary").textContent = answer.describe + (answer.made_up ? "; what is not given is made up" : "");
  byId("formula").textContent = answer.formula;
  byId("objections").replaceChildren();
  byId("operator").value = BAG;
  byId("plan-lines").replaceChildren(...answer.plan.lines.map((line) => element("li", {},
    element("span", { class: "code" }, line))));
  const picture = answer.svg ? bagPicture(answer, `${problem}: ${answer.formula}`) : null;
  byId("stage").replaceChildren(...(picture ? [picture.host] : []));
  if (picture) fit(picture);
}

// SPDX-License-Identifier: MIT
//
// Which kernel of each backend would run the plan, and why the others refuse: the library's own words.
import { element } from "./dom.js";

function row({ name, refusal, runs }) {
  const verdict = runs ? "runs this plan" : refusal ? `refuses: ${refusal}` : "could, but is asked later";
  return element("tr", { class: runs ? "runs" : "" },
    element("th", { scope: "row", class: "mono" }, name), element("td", {}, verdict));
}

export function showKernels(node, answer) {
  const backends = answer.kernels.map(({ backend, kernels, note }) => element("section", {},
    element("h3", {}, backend), element("p", { class: "note" }, note),
    kernels.length ? element("table", {},
      element("caption", { class: "sr" }, `Kernels of ${backend}, in the order in which they are asked`),
      element("tbody", {}, ...kernels.map(row))) : null));
  node.replaceChildren(element("div", { class: "kernels" }, ...backends));
}

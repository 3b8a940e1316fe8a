// SPDX-License-Identifier: MIT
//
// What is said about the cell that is pointed at, or about the step that runs.
import { bagTickLines } from "../model/bag/ticks.js";
import { element } from "./dom.js";

const SIGNS = { add: "+", sub: "−", mul: "×", min: "min", max: "max", mean: "+" };

// Updates that meet in one cell, in order, and the value as it grows.
function growthList(links, growth, reduction) {
  const item = ({ update, value }) => element("li", {},
    element("span", { class: "mono" }, `${SIGNS[reduction] ?? "="} ${links.value("updates", update)}`),
    element("span", { class: "note" }, links.name("updates", update)),
    element("b", { class: "mono" }, value));
  const rows = growth.updates.slice(0, 24).map(item);
  const rest = growth.updates.length - rows.length;
  return element("ol", { class: "growth" },
    element("li", {}, element("span", { class: "mono" }, "start"), element("span"),
      element("b", { class: "mono" }, growth.start)),
    ...rows,
    rest > 0 ? element("li", { class: "note" }, `and ${rest} more`) : null,
    reduction === "mean" && growth.updates.length
      ? element("li", {}, element("span", {}, "divided by the count"), element("span"),
        element("b", { class: "mono" }, growth.end)) : null);
}

export function showReadout(node, links, { cell, tick }) {
  if (tick && links.answer.bag) {
    const [first, ...lines] = bagTickLines(links.answer, tick);
    node.replaceChildren(element("p", { class: "title" }, `Move ${tick.step + 1}`),
      element("p", { class: "mono line" }, first), ...lines.map((line) => element("p", { class: "line" }, line)));
    return;
  }
  if (tick && links.answer.steps) {
    const step = links.answer.steps.list[tick.step];
    const lines = tick.moves && links.answer.map
      ? [links.answer.map.formulas[step.grid]] : ["Reading the plan, line by line."];
    if (tick.moves && step.count > 1) lines.push(`and the ${step.count - 1} elements that follow in the same row.`);
    const growing = links.scatters && tick.moves && step.data !== null
      ? `${links.name("output", step.data)} is now ${step.after[0]}` : "";
    node.replaceChildren(element("p", { class: "title" }, `Move ${tick.step + 1}`),
      ...lines.map((line) => element("p", { class: "mono line" }, line)),
      growing ? element("p", {}, growing) : "");
    return;
  }
  if (!cell) {
    const hint = links.scatters
      ? "Point at an update to see where it goes, or at an output cell to see what meets there."
      : "Point at an output cell to see where it comes from, or at a data cell to see where it went.";
    node.replaceChildren(element("p", { class: "note" }, hint));
    return;
  }
  const { title, lines } = links.describe(cell);
  const growth = cell.tensor === "output" && links.answer.map && !links.answer.bag ? links.growth(cell.element) : null;
  node.replaceChildren(element("p", { class: "title mono" }, title),
    ...lines.map((line) => element("p", { class: /=/.test(line) ? "mono line" : "line" }, line)),
    growth && growth.updates.length ? growthList(links, growth, links.answer.call.reduction) : "");
}

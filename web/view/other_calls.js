// SPDX-License-Identifier: MIT
//
// Bags and tables on the page, which have no form: their line is all there is to change.
import { BagLinks } from "../model/bag/links.js";
import { bagCallText, withBagValue } from "../model/bag/others.js";
import { byId } from "./dom.js";
import { editCell } from "./edit.js";
import { showTable } from "./table.js";

// What the list of operators has for bags.
export const BAG = "sheaf.bag";

// Its line, its picture, its steps and the tabs.
export function acceptBag(page, problem, answer, { point, tick, own, kind }) {
  Object.assign(page.state, { problem, bag: answer, shown: answer, point, hover: null });
  page.links = new BagLinks(answer);
  if (point && !(page.links.tensors[point.tensor]?.count > point.element)) page.state.point = null;
  page.player.show(answer, tick);
  drawBag(page);
  finish(page, { own, kind });
}

// No steps either: its line, the library's picture and the ways.
export function acceptTable(page, problem, answer, { own, kind }) {
  page.player.pause();
  page.player.at = null;
  Object.assign(page.state, { problem, bag: null, point: null, hover: null });
  drawTable(page);
  finish(page, { own, kind });
}

function finish(page, { own, kind }) {
  page.save(kind);
  if (own && !page.preset()) page.work.keep(page.state.problem, "");
}

function showRest(page, answer) {
  page.showError(answer.error?.text ?? "", true);
  page.showProblem();
  page.showPreset();
}

export function editBagCell(page, { tensor, element }, node) {
  const { bag, problem } = page.state;
  const { values } = bag.tensors.find((t) => t.name === tensor);
  editCell(node, page.stage.views.get(tensor).svg, values[element], (text) =>
    page.ask(withBagValue(problem, bag, tensor, element, text), null, { kind: `${tensor} ${element} ${text}` }));
}

export function drawTable(page) {
  const { table, problem } = page.state;
  showTable(table, problem);
  showRest(page, table);
}

export function drawBag(page) {
  const { bag } = page.state;
  byId("call-text").textContent = bagCallText(bag);
  byId("summary").textContent = bag.describe + (bag.made_up ? "; what is not given is made up" : "");
  byId("formula").textContent = bag.formula;
  byId("objections").replaceChildren();
  byId("operator").value = BAG;
  showRest(page, bag);
  page.stage.draw(bag, page.links);
  page.showTabs(bag);
  page.light();
}

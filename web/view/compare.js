// SPDX-License-Identifier: MIT
//
// Two calls side by side, the one on the page and the same tensors under another name: drawn, run
// together, and the first cell that differs marked in both.
import { attributesFor, callText, DIALECTS, findName } from "../model/dialects.js";
import { differenceText, firstDifference } from "../model/difference.js";
import { BagLinks } from "../model/bag/links.js";
import { BAG_OTHERS, bagCallText, COMPOSED, otherSide, rowsAfter } from "../model/bag/others.js";
import { withLetters } from "../model/letters.js";
import { Links } from "../model/links.js";
import { OPERATORS, usualAttributes } from "../model/operators.js";
import { formatProblem } from "../model/problem.js";
import { objections } from "../model/rules.js";
import { ticksOf } from "../model/ticks.js";
import { element } from "./dom.js";
import { Stage } from "./stage.js";
import { Stepper } from "./stepper.js";

export function operatorOptions() {
  return DIALECTS.map((dialect) => element("optgroup", { label: dialect.name },
    ...dialect.names.map((n) => element("option", { value: n.id }, n.id))));
}

// The call on the page as `entry` makes it. Updates keep their values only where they keep their shape.
export function callAs(entry, call, own = {}) {
  const attributes = attributesFor(entry, { ...call.attributes, ...own }, usualAttributes(entry.op), call.data.dtype);
  return { ...call, op: entry.op, attributes };
}

function bagOptions() {
  return ["Sheaf", "PyTorch"].map((group) => element("optgroup", { label: group },
    ...BAG_OTHERS.filter((other) => other.group === group).map(({ id }) => element("option", { value: id }, id))));
}

function verdict(result, refused) {
  if (refused || result.a.error || result.b.error) return ["differ", "One of the two is refused."];
  if (result.same) return ["same", "Same plan."];
  if (result.same_cells !== undefined) {
    return result.same_cells ? ["near", "Same values, another way."] : ["differ", "Other values."];
  }
  if (result.same_moves) return ["near", "Same moves, another rule."];
  return ["differ", "Different plans."];
}

// The last tick of a step.
const tickOf = (answer, step) => (answer.bag ? ticksOf(answer).find((tick) => tick.step === step && tick.moves)
  : { step, line: 0, moves: true });

// One of the two: its call, what is said against it, and its picture.
class Side {
  constructor(prefix, on) {
    this.heading = element("h3");
    this.call = element("p", { class: "mono call" });
    this.formula = element("p", { class: "mono note" });
    this.remarks = element("div");
    this.picture = element("div", { class: "stage", id: `${prefix}stage` });
    this.node = element("section", { class: "compare-side", "data-side": prefix[0] },
      this.heading, this.call, this.formula, this.remarks, this.picture);
    this.stage = new Stage(this.picture, on, prefix);
  }

  // `said`: {title, call, against}, the last a list of what its library says against it.
  show({ title, call, against }, answer, different) {
    this.heading.textContent = title;
    this.call.textContent = call;
    this.formula.textContent = answer.formula ?? "";
    this.answer = answer;
    this.pace = (move) => move;
    this.refused = against.some(({ kind }) => kind === "refuses");
    this.remarks.replaceChildren(...against.map(({ kind, text }) => element("p", { class: `objection ${kind}` }, text)),
      answer.error ? element("pre", { class: "error" }, answer.error.text) : "");
    this.picture.hidden = !answer.tensors;
    if (!answer.tensors) return;
    this.stage.different = different;
    this.stage.draw(answer, answer.bag ? new BagLinks(answer) : new Links(answer));
  }

  get moves() {
    return this.answer.steps?.list.length ?? 0;
  }

  // `move` counts from 1; the shorter of two runs stays at its end.
  light(cell, move) {
    if (!this.answer.tensors) return;
    const exists = cell && this.stage.links.tensors[cell.tensor]?.count > cell.element;
    const own = this.pace(move ?? 0);
    const tick = own && this.moves ? tickOf(this.answer, Math.min(own, this.moves) - 1) : null;
    this.stage.show(exists ? { cell, tick: null } : { cell: null, tick, start: Boolean(move) && !own });
  }
}

export class ComparePanel {
  constructor(node, engine, onchange) {
    this.engine = engine;
    this.cell = null;
    // Another call has to be drawn; another move of the same calls is drawn already.
    this.changed = (redraw) => onchange({
      with: this.chosen.value, axis_b: this.axis.value, batch_b: this.batch.value, move: this.stepper.at,
    }, redraw);
    const restart = () => {
      this.stepper.pause();
      this.stepper.at = null;
      this.changed(true);
    };
    const input = (id) => element("input", { id, class: "mono small", spellcheck: "false", oninput: restart });
    this.select = element("select", { id: "compare-with", onchange: restart },
      element("option", { value: "" }, "Choose a name"), ...operatorOptions());
    this.bags = element("select", { id: "compare-bag", onchange: restart, "aria-label": "Is it the same as" },
      element("option", { value: "" }, "Choose another way"), ...bagOptions());
    this.chosen = this.select;
    this.axis = input("compare-axis");
    this.batch = input("compare-batch");
    this.fields = [["axis", "compare-axis", this.axis], ["batch_dims", "compare-batch", this.batch]].map(
      ([label, id, control]) => element("span", { class: "pair" }, element("label", { for: id }, label), control));
    this.hint = element("p", { class: "note" },
      "The same tensors under another library’s name: is it the same plan, and if not, which cell differs first?");
    this.verdict = element("p", { class: "verdict", id: "verdict" });
    this.stepper = new Stepper(() => {
      this.cell = null;
      this.light();
      this.changed(false);
    });
    const on = {
      point: (cell) => this.point(cell), leave: () => this.point(null), pin: (cell) => this.point(cell),
    };
    this.sides = ["a-", "b-"].map((prefix) => new Side(prefix, on));
    this.result = element("div", {}, element("div", { "aria-live": "polite" }, this.verdict), this.stepper.node,
      element("div", { class: "compare-sides" }, ...this.sides.map((side) => side.node)));
    node.append(element("div", { class: "bar" }, element("label", { for: "compare-with" }, "Is it the same as"),
      this.select, this.bags, ...this.fields), this.hint, this.result);
  }

  // The list of names, or of what bags are compared with.
  choose(select, value) {
    this.chosen = select;
    this.select.hidden = select !== this.select;
    this.bags.hidden = select !== this.bags;
    select.value = value;
    this.hint.hidden = Boolean(value);
    this.result.hidden = !value;
  }

  point(cell) {
    this.cell = cell;
    this.light();
  }

  light() {
    for (const side of this.sides) side.light(this.cell, this.stepper.at);
  }

  show(call, as, { with: other, axis_b, batch_b, move }) {
    const entry = findName(other ?? "");
    this.choose(this.select, entry ? entry.id : "");
    const [axis, batch] = this.fields;
    axis.hidden = !entry?.takes.includes("axis");
    batch.hidden = !entry?.takes.includes("batch_dims");
    if (!entry) return;
    if (document.activeElement !== this.axis) this.axis.value = axis_b || call.attributes.axis || "0";
    if (document.activeElement !== this.batch) this.batch.value = batch_b || "0";
    const theirs = callAs(entry, call, { axis: this.axis.value || "0", batch_dims: this.batch.value || "0" });
    const calls = [[as, call], [entry, this.fitting(theirs)]];
    const problems = calls.map(([, each]) => formatProblem(each));
    const answers = problems.map((problem) => withLetters(this.engine.explain(problem)));
    const said = calls.map(([name, each], i) => ({
      title: ["This call", entry.dialect][i], call: callText(name, each.attributes),
      against: answers[i].tensors ? objections(name, each.attributes, answers[i].tensors) : [],
    }));
    this.draw(problems, answers, said, move);
  }

  showBag(problem, answer, { with: other, move }) {
    const known = BAG_OTHERS.find(({ id }) => id === other);
    for (const field of this.fields) field.hidden = true;
    const side = known && otherSide(other, problem, answer);
    this.choose(this.bags, side ? other : "");
    if (!side) return;
    const problems = [problem, side.problem];
    const answers = [answer, this.engine.explain(side.problem)];
    this.draw(problems, answers, [
      { title: "This call", call: bagCallText(answer), against: [] },
      { title: known.group, call: side.call, against: side.objections },
    ], move);
    // A bag has a move more at its end; a scatter waits for it.
    if (other === COMPOSED) this.sides[1].pace = (at) => rowsAfter(answer, at);
    this.light();
  }

  // Updates of another shape than the other call takes are left to it.
  fitting(call) {
    if (!OPERATORS[call.op].scatters || this.engine.explain(formatProblem(call)).tensors) return call;
    const free = { ...call, updates: { dtype: call.data.dtype, sizes: null, values: "" } };
    return this.engine.explain(formatProblem(free)).tensors ? free : call;
  }

  draw(problems, answers, said, move) {
    const result = this.engine.compare(...problems);
    const outputs = answers.map((answer) => (answer.error ? null : answer.tensors?.at(-1)));
    const different = firstDifference(...outputs);
    if (answers[0].bag) result.same_cells = different === null;
    this.sides.forEach((side, i) => side.show(said[i], answers[i], different?.[i === 0 ? "a" : "b"] ?? null));
    this.say(result, outputs, different);
    this.stepper.pause();
    this.stepper.show(Math.max(...this.sides.map((side) => (side.answer.tensors ? side.moves : 0))),
      move === undefined || move === null ? null : Number(move));
    this.cell = null;
    this.light();
  }

  say(result, outputs, different) {
    const [kind, text] = verdict(result, this.sides.some((side) => side.refused));
    const values = different ? differenceText(...outputs, different)
      : outputs.every(Boolean) && outputs[0].values ? "With these indices every cell is the same." : "";
    this.verdict.className = `verdict ${kind}`;
    this.verdict.replaceChildren(element("b", {}, text),
      result.difference ? ` ${result.same ? "Only the shape differs. " : "First difference: "}${result.difference}.` : "",
      ` ${values}`);
  }
}

// SPDX-License-Identifier: MIT
//
// Two calls side by side: the one on the page, and the same tensors under another name.
import { attributesFor, callText, DIALECTS, findName } from "../model/dialects.js";
import { usualAttributes } from "../model/operators.js";
import { formatProblem } from "../model/problem.js";
import { element } from "./dom.js";

export function operatorOptions() {
  return DIALECTS.map((dialect) => element("optgroup", { label: dialect.name },
    ...dialect.names.map((n) => element("option", { value: n.id }, n.id))));
}

// The call on the page as `entry` makes it. Updates keep their values only where they keep their shape.
export function callAs(entry, call, own = {}) {
  const attributes = attributesFor(entry, { ...call.attributes, ...own }, usualAttributes(entry.op), call.data.dtype);
  return { ...call, op: entry.op, attributes };
}

function verdict(result) {
  if (result.a.error || result.b.error) return ["differ", "One of the two is refused."];
  if (result.same) return ["same", "Same plan."];
  if (result.same_moves) return ["near", "Same moves, another rule."];
  return ["differ", "Different plans."];
}

function side(title, text, json) {
  const output = json.tensors?.at(-1);
  const shape = output ? `${output.dtype}[${output.sizes.join(", ")}]` : "";
  const values = output?.values ? ` = ${output.values.slice(0, 24).join(", ")}${output.values.length > 24 ? ", …" : ""}` : "";
  return element("section", { class: "compare-side" }, element("h3", {}, title),
    element("p", { class: "mono call" }, text),
    json.formula ? element("p", { class: "mono" }, json.formula) : null,
    json.error ? element("pre", { class: "error" }, json.error.text)
      : element("p", { class: "mono note" }, `output ${shape}${values}`));
}

export class ComparePanel {
  constructor(node, engine, onchange) {
    this.engine = engine;
    this.onchange = onchange;
    const changed = () => onchange({ with: this.select.value, axis_b: this.axis.value, batch_b: this.batch.value });
    const input = (id) => element("input", { id, class: "mono small", spellcheck: "false", oninput: changed });
    this.select = element("select", { id: "compare-with", onchange: changed },
      element("option", { value: "" }, "Choose a name"), ...operatorOptions());
    this.axis = input("compare-axis");
    this.batch = input("compare-batch");
    this.fields = [["axis", "compare-axis", this.axis], ["batch_dims", "compare-batch", this.batch]].map(
      ([label, id, control]) => element("span", { class: "pair" }, element("label", { for: id }, label), control));
    this.result = element("div", { "aria-live": "polite" });
    node.append(element("div", { class: "bar" }, element("label", { for: "compare-with" }, "Is it the same as"),
      this.select, ...this.fields), this.result);
  }

  show(call, as, { with: other, axis_b, batch_b }) {
    const entry = findName(other ?? "");
    this.select.value = entry ? entry.id : "";
    const [axis, batch] = this.fields;
    axis.hidden = !entry?.takes.includes("axis");
    batch.hidden = !entry?.takes.includes("batch_dims");
    if (!entry) {
      this.result.replaceChildren(element("p", { class: "note" },
        "The same tensors under another library’s name: is it the same plan, and if not, what differs first?"));
      return;
    }
    if (document.activeElement !== this.axis) this.axis.value = axis_b || call.attributes.axis || "0";
    if (document.activeElement !== this.batch) this.batch.value = batch_b || "0";
    const own = { axis: this.axis.value || "0", batch_dims: this.batch.value || "0" };
    const theirs = callAs(entry, call, own);
    const result = this.engine.compare(formatProblem(call), formatProblem(theirs));
    const [kind, text] = verdict(result);
    const values = "same_values" in result
      ? (result.same_values ? "With these indices both give the same values." : "With these indices the values differ.") : "";
    this.result.replaceChildren(
      element("p", { class: `verdict ${kind}`, id: "verdict" }, element("b", {}, text),
        result.difference ? ` ${result.same ? "Only the shape differs. " : "First difference: "}${result.difference}.` : "", ` ${values}`),
      element("div", { class: "compare-sides" }, side("This call", callText(as, call.attributes), result.a),
        side(entry.dialect, callText(entry, theirs.attributes), result.b)));
  }
}

// SPDX-License-Identifier: MIT
//
// The fields of a call: types, sizes and values of its tensors, and its attributes. Fields hold text
// as it is typed; what is wrong with it, the library says.
import { DTYPES, INDEX_DTYPES, OPERATORS } from "../model/operators.js";
import { element } from "./dom.js";

const TENSORS = ["data", "indices", "updates"];

function select(id, choices, value, onchange) {
  const node = element("select", { id, onchange: (e) => onchange(e.target.value) },
    ...choices.map((choice) => element("option", { value: choice }, choice.replaceAll("_", " "))));
  node.value = value;
  return node;
}

function field(id, label, hint, control) {
  return element("div", { class: "field", title: hint || null },
    element("label", { for: id }, label), control);
}

export class Form {
  // `change(tensor, fields)`, `values(tensor, text)` and `set(attribute, text)` are called as the user types.
  constructor(node, on) {
    this.node = node;
    this.on = on;
    this.controls = new Map();
    node.addEventListener("submit", (event) => event.preventDefault());
  }

  // Builds the fields if the operator is another one, else only brings their values up to date: the
  // field that is being typed into is left alone, unless the change came from elsewhere.
  show(call, answer, everything = false) {
    const shape = `${call.op} ${call.attributes.out_of_range === "fill"}`;
    if (this.shape !== shape) {
      this.shape = shape;
      this.build(call);
    }
    for (const [key, control] of this.controls) {
      const [owner, name] = key.split(".");
      const value = owner === "attribute" ? call.attributes[name] : call[owner][name];
      const tensor = answer?.tensors?.find((t) => t.name === owner);
      if (control.type === "checkbox") control.checked = value === "1";
      else if (everything || document.activeElement !== control) {
        control.value = value ?? (tensor && name === "sizes" ? tensor.sizes.join(", ") : "");
      }
      if (name === "values") control.placeholder = (owner === "indices" && tensor?.values?.join(", ")) || "made up";
    }
  }

  build(call) {
    this.controls.clear();
    const { attributes, scatters } = OPERATORS[call.op];
    const tensors = TENSORS.filter((name) => name !== "updates" || scatters);
    const options = attributes.filter((a) => !a.only || a.only(call.attributes));
    this.node.replaceChildren(
      ...tensors.map((name) => this.tensor(name)),
      element("fieldset", { class: "options" }, element("legend", {}, "options"),
        ...options.map((attribute) => this.attribute(attribute))));
  }

  tensor(name) {
    const id = (what) => `field-${name}-${what}`;
    const change = (what) => (value) => (what === "values" ? this.on.values(name, value) : this.on.change(name, { [what]: value }));
    const type = select(id("dtype"), name === "indices" ? INDEX_DTYPES : DTYPES, "", change("dtype"));
    type.disabled = name === "updates"; // always data's
    const input = (what, tag, more) => element(tag, {
      id: id(what), class: "mono", spellcheck: "false", ...more,
      oninput: (event) => change(what)(event.target.value),
    });
    const sizes = input("sizes", "input", { inputmode: "text" });
    const values = input("values", "textarea", { rows: 2 });
    this.controls.set(`${name}.dtype`, type);
    this.controls.set(`${name}.sizes`, sizes);
    this.controls.set(`${name}.values`, values);
    return element("fieldset", { class: "tensor-fields" }, element("legend", {}, name),
      field(id("dtype"), "type", "", type), field(id("sizes"), "sizes", "As in 2, 3. Empty: a scalar.", sizes),
      field(id("values"), "values", "In row-major order, or pasted: [[1, 2], [3, 4]], tensor(…), np.array(…). Empty: made up.", values));
  }

  attribute({ name, label, hint, kind, choices }) {
    const id = `option-${name}`;
    const set = (value) => this.on.set(name, value);
    let control;
    if (kind === "choice") control = select(id, choices, "", set);
    else if (kind === "flag") {
      control = element("input", { id, type: "checkbox", onchange: (e) => set(e.target.checked ? "1" : "0") });
    } else {
      control = element("input", { id, class: "mono", spellcheck: "false", oninput: (e) => set(e.target.value) });
    }
    this.controls.set(`attribute.${name}`, control);
    return field(id, label, hint, control);
  }
}

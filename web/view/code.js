// SPDX-License-Identifier: MIT
//
// The call as code, one language at a time.
import { LANGUAGES, snippet } from "../model/snippets/snippets.js";
import { copyText, element } from "./dom.js";

export class CodePanel {
  constructor(node, onchange) {
    this.select = element("select", {
      id: "language", onchange: () => {
        this.fill();
        onchange(this.select.value);
      },
    }, ...LANGUAGES.map((l) => element("option", { value: l.id }, l.name)));
    this.pre = element("pre", { class: "mono", tabindex: 0, id: "code", "aria-label": "Code" });
    this.copy = element("button", {
      type: "button", id: "copy-code", onclick: () => copyText(this.pre.textContent, "Code"),
    }, "Copy");
    node.append(element("div", { class: "bar" }, element("label", { for: "language" }, "The same call in"),
      this.select, this.copy), this.pre);
  }

  show(answer, language) {
    this.answer = answer;
    if (LANGUAGES.some((l) => l.id === language)) this.select.value = language;
    this.fill();
  }

  fill() {
    const name = LANGUAGES.find((l) => l.id === this.select.value).name;
    const { code, missing } = snippet(this.select.value, this.answer);
    this.copy.disabled = !code;
    this.pre.classList.toggle("missing", !code);
    this.pre.textContent = code ?? `${name} has no ${missing.replace(/^no /, "")}.`;
  }
}

// SPDX-License-Identifier: MIT
//
// Tabs by the book: one is in the tab order, arrow keys move between them.
import { byId, element } from "./dom.js";

export class Tabs {
  constructor(node, tabs, onchange) {
    this.onchange = onchange;
    this.ids = tabs.map(([id]) => id);
    this.buttons = tabs.map(([id, label]) => element("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`,
      onclick: () => this.choose(id),
      onkeydown: (event) => this.key(event, id),
    }, label));
    node.append(...this.buttons);
  }

  key(event, id) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = (this.ids.indexOf(id) + by + this.ids.length) % this.ids.length;
    this.choose(this.ids[next]);
    this.buttons[next].focus();
  }

  choose(id) {
    this.show(id);
    this.onchange(id);
  }

  show(id) {
    const known = this.ids.includes(id) ? id : this.ids[0];
    this.ids.forEach((each, i) => {
      const chosen = each === known;
      this.buttons[i].setAttribute("aria-selected", String(chosen));
      this.buttons[i].tabIndex = chosen ? 0 : -1;
      byId(`panel-${each}`).hidden = !chosen;
    });
  }
}

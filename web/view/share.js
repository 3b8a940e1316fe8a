// SPDX-License-Identifier: MIT
//
// Taking the picture along: as a link, in a frame of another page, as files.
import { byId, copyText, toast } from "./dom.js";
import { pictureSvg, savePng, saveSteps, saveSvg } from "./export.js";
import { tableSvg } from "./table.js";

const caption = () => byId("call-text").textContent;
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");

export class Share {
  constructor(page) {
    this.page = page;
    const press = (id, action) => byId(id).addEventListener("click", action);
    press("copy-link", () => copyText(this.address(false), "Link"));
    press("copy-embed", () => copyText(this.frame(), "Code"));
    press("save-svg", () => saveSvg(this.picture()));
    press("save-png", () => savePng(this.picture()));
    press("save-steps", () => this.steps());
  }

  // Of what is shown now; `embed`: only the picture and its run.
  address(embed) {
    return location.href.split("#")[0] + this.page.hash(embed);
  }

  frame() {
    return `<iframe src="${escaped(this.address(true))}" title="${escaped(caption())}" width="100%" height="520" style="border:0"></iframe>`;
  }

  picture() {
    const { table } = this.page.state;
    return table?.svg ? tableSvg(table) : pictureSvg(this.page.stage, caption());
  }

  async steps() {
    toast("Drawing each move");
    this.page.player.pause();
    await saveSteps(this.page.stage, caption());
    this.page.light();
  }
}

// SPDX-License-Identifier: MIT
//
// The state of the page, and who shows what of it.
//
//   call     the fields of the form        answer   what the library said last of a sound call
//   as       the name it goes by           point    the pinned cell;  tick  the line that runs
import { callText, findName, nameOfOperator } from "../model/dialects.js";
import { Links, cellKey, parseCell } from "../model/links.js";
import { EXAMPLES, PRESETS, findPreset } from "../model/presets.js";
import { callOf, formatProblem, withTensor, withValue } from "../model/problem.js";
import { fromHash, toHash } from "../model/url.js";
import { callAs, ComparePanel, operatorOptions } from "./compare.js";
import { CodePanel } from "./code.js";
import { byId, copyText, element } from "./dom.js";
import { editCell } from "./edit.js";
import { savePng, saveSvg } from "./export.js";
import { Form } from "./form.js";
import { showKernels } from "./kernels.js";
import { Player } from "./player.js";
import { showReadout } from "./readout.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";

const FIRST = "top-k";

export class Page {
  constructor(engine) {
    this.engine = engine;
    this.state = { point: null, hover: null, show: "code", code: "python", other: {} };
    this.form = new Form(byId("form"), {
      change: (tensor, fields) => this.setCall(withTensor(this.state.call, tensor, fields)),
      set: (name, value) => this.setCall({ ...this.state.call, attributes: { ...this.state.call.attributes, [name]: value } }),
    });
    this.stage = new Stage(byId("stage"), {
      point: (cell) => this.hover(cell),
      leave: () => this.hover(null),
      pin: (cell) => this.pin(cell),
      edit: (cell, node) => this.edit(cell, node),
    });
    this.player = new Player(byId("player"), byId("plan-lines"), { tick: () => this.ticked() });
    this.code = new CodePanel(byId("panel-code"), (code) => this.set({ code }));
    this.compare = new ComparePanel(byId("panel-compare"), engine, (other) => {
      this.set({ other });
      this.showCompare();
    });
    this.tabs = new Tabs(byId("tabs"), [["code", "Code"], ["compare", "Compare"], ["kernels", "Kernels"]],
      (show) => {
        this.set({ show });
        if (show === "compare") this.showCompare();
      });
  }

  start() {
    startTheme(byId("theme"), () => this.stage.drawWires());
    byId("version").textContent = `Sheaf ${this.engine.version}. `;
    byId("operator").append(...operatorOptions());
    byId("preset").append(...PRESETS.map((group) => element("optgroup", { label: group.name },
      ...group.presets.map((p) => element("option", { value: p.id }, p.title)))));
    byId("operator").addEventListener("change", (event) => this.chooseOperator(event.target.value));
    byId("preset").addEventListener("change", (event) => this.choosePreset(event.target.value));
    byId("problem").addEventListener("input", (event) => this.ask(event.target.value, null));
    byId("copy-link").addEventListener("click", () => copyText(location.href, "Link"));
    byId("save-svg").addEventListener("click", () => saveSvg(this.stage, byId("call-text").textContent));
    byId("save-png").addEventListener("click", () => savePng(this.stage, byId("call-text").textContent));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.pin(null);
    });
    window.addEventListener("hashchange", () => this.restore());
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      const turned = (width < 640) !== (window.innerWidth < 640);
      width = window.innerWidth;
      if (turned && this.state.answer) this.draw();
    });
    this.restore();
  }

  // The state that the address describes.
  restore() {
    if (location.hash === this.written) return;
    const said = fromHash(location.hash);
    if (!said.call) {
      this.choosePreset(FIRST);
      return;
    }
    this.state = {
      ...this.state, show: said.show ?? "code", code: said.code ?? "python",
      other: { with: said.with, axis_b: said.axis_b, batch_b: said.batch_b },
    };
    this.ask(said.call, findName(said.as ?? "") ?? null, {
      point: parseCell(said.point), tick: said.step === undefined ? null : Number(said.step),
    });
  }

  choosePreset(id) {
    const preset = findPreset(id);
    if (preset) this.ask(preset.problem, findName(preset.as));
  }

  // The tensors stay if the operator takes them; else it brings its own.
  chooseOperator(id) {
    const entry = findName(id);
    const same = this.state.call && this.engine.explain(formatProblem(callAs(entry, this.state.call)));
    const call = same && !same.error ? callAs(entry, this.state.call)
      : callAs(entry, callOf(this.engine.explain(EXAMPLES[entry.op])), {});
    this.ask(formatProblem(call), entry);
  }

  // A problem string from outside: a preset, the address, the line that people type.
  ask(problem, as, { point = null, tick = null } = {}) {
    const answer = this.engine.explain(problem);
    if (!answer.tensors) {
      this.state.problem = problem;
      this.showError(answer.error.text, false);
      this.save();
      return;
    }
    const entry = as && as.op === answer.call.op ? as : this.nameFor(answer.call.op);
    this.accept({ call: callOf(answer), as: entry, problem }, answer, { point, tick });
  }

  nameFor(op) {
    return this.state.as?.op === op ? this.state.as : nameOfOperator(op);
  }

  // The form has changed.
  setCall(call) {
    const problem = formatProblem(call);
    const answer = this.engine.explain(problem);
    this.state.call = call;
    this.state.problem = problem;
    if (answer.tensors) {
      this.accept({ call, problem }, answer, {});
      return;
    }
    this.showError(answer.error.text, false);
    this.form.show(call, this.state.answer);
    this.showProblem();
    this.save();
  }

  accept(change, answer, { point = null, tick = null }) {
    Object.assign(this.state, change, { answer, point, hover: null });
    this.links = new Links(answer);
    if (point && !(this.links.tensors[point.tensor]?.count > point.element)) this.state.point = null;
    this.player.show(answer, tick);
    this.draw();
    this.save();
  }

  draw() {
    const { answer, call, as } = this.state;
    byId("call-text").textContent = callText(as, call.attributes);
    byId("summary").textContent = answer.summary[0].toUpperCase() + answer.summary.slice(1) + ".";
    byId("formula").textContent = answer.formula;
    byId("operator").value = as.id;
    const preset = PRESETS.flatMap((g) => g.presets).find((p) => p.problem === this.state.problem && p.as === as.id);
    byId("preset").value = preset?.id ?? "";
    byId("preset-note").textContent = preset?.note ?? "";
    this.showError(answer.error?.text ?? "", true);
    this.form.show(call, answer);
    this.showProblem();
    this.stage.draw(answer, this.links);
    this.tabs.show(this.state.show);
    this.code.show(answer, this.state.code);
    showKernels(byId("panel-kernels"), answer);
    this.showCompare();
    this.light();
  }

  showProblem() {
    const field = byId("problem");
    if (document.activeElement !== field) field.value = this.state.problem;
  }

  showCompare() {
    if (this.state.show === "compare") this.compare.show(this.state.call, this.state.as, this.state.other);
  }

  // The library's own words. A call that cannot be planned leaves the last picture, greyed.
  showError(text, drawn) {
    const node = byId("error");
    node.hidden = !text;
    node.replaceChildren(text ? element("pre", {}, text) : "");
    document.body.classList.toggle("stale", !drawn);
  }

  light() {
    const tick = this.player.tick;
    const cell = this.state.hover ?? (tick ? null : this.state.point);
    const shown = { cell, tick: cell ? null : tick };
    this.stage.show(shown);
    showReadout(byId("readout"), this.links, shown);
  }

  hover(cell) {
    const same = cell && this.state.hover && cellKey(cell) === cellKey(this.state.hover);
    if (same || (!cell && !this.state.hover)) return;
    this.state.hover = cell;
    this.light();
  }

  pin(cell) {
    this.state.point = cell;
    this.state.hover = null;
    if (this.player.tick) {
      this.player.pause();
      this.player.at = null;
      this.player.mark();
    }
    this.light();
    this.save();
  }

  ticked() {
    this.state.point = null;
    this.state.hover = null;
    this.light();
    this.save();
  }

  edit(cell, node) {
    const { tensor, element: e } = cell;
    const { values } = this.links.tensors[tensor];
    editCell(node, this.stage.views.get(tensor).svg, values[e], (text) =>
      this.setCall(withValue(this.state.call, tensor, values, e, text)));
  }

  set(change) {
    Object.assign(this.state, change);
    this.save();
  }

  save() {
    const { problem, as, point, show, code, other } = this.state;
    const hash = toHash({
      call: problem, as: as?.id, ...(show === "compare" ? other : {}), step: this.player.at,
      point: point && cellKey(point), show: show === "code" ? null : show, code: code === "python" ? null : code,
    });
    this.written = hash;
    history.replaceState(null, "", hash);
  }
}

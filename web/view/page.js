// SPDX-License-Identifier: MIT
//
// The state of the page, and who shows what of it.
//
//   call     the fields of the form        answer   what the library said last of a sound call
//   as       the name it goes by           point    the pinned cell;  tick  the line that runs
import { callText, findName, nameOfOperator } from "../model/dialects.js";
import { withLetters } from "../model/letters.js";
import { Links, cellKey, parseCell } from "../model/links.js";
import { PRESETS, exampleFor, findPreset } from "../model/presets.js";
import { fixesOf } from "../model/fixes.js";
import { INDEX_DTYPES, OPERATORS } from "../model/operators.js";
import { callFromText, fieldsFromText } from "../model/paste/paste.js";
import { callOf, formatProblem, withFoundUpdates, withFreeUpdates, withoutValues, withTensor, withValue } from "../model/problem.js";
import { objections } from "../model/rules.js";
import { fromHash, toHash } from "../model/url.js";
import { callAs, ComparePanel, operatorOptions } from "./compare.js";
import { CodePanel } from "./code.js";
import { byId, element, toast } from "./dom.js";
import { editCell } from "./edit.js";
import { Form } from "./form.js";
import { Work } from "./history.js";
import { showKernels } from "./kernels.js";
import { BAG, acceptBag, acceptTable, drawBag, drawTable, editBagCell } from "./other_calls.js";
import { Player } from "./player.js";
import { showReadout } from "./readout.js";
import { Share } from "./share.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";

const FIRST = "top-k";

export class Page {
  constructor(engine) {
    this.engine = engine;
    this.work = new Work();
    this.share = new Share(this);
    this.state = { point: null, hover: null, show: "code", code: "python", other: {} };
    this.form = new Form(byId("form"), {
      change: (tensor, fields) => this.setTensor(tensor, fields),
      values: (tensor, text) => this.setValues(tensor, text),
      set: (name, value) => this.setCall(
        { ...this.state.call, attributes: { ...this.state.call.attributes, [name]: value } }, `option ${name}`),
    });
    this.stage = new Stage(byId("stage"), {
      point: (cell) => this.hover(cell),
      leave: () => this.hover(null),
      pin: (cell) => this.pin(cell),
      edit: (cell, node) => this.edit(cell, node),
    });
    this.player = new Player(byId("player"), byId("plan-lines"), byId("moves"), { tick: () => this.ticked() });
    this.code = new CodePanel(byId("panel-code"), (code) => this.set({ code }));
    this.compare = new ComparePanel(byId("panel-compare"), engine, (other, redraw) => {
      this.set({ other });
      if (redraw) this.showCompare();
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
    byId("operator").querySelector("optgroup").append(element("option", { value: BAG }, BAG));
    byId("preset").append(...PRESETS.map((group) => element("optgroup", { label: group.name },
      ...group.presets.map((p) => element("option", { value: p.id }, p.title)))));
    byId("operator").addEventListener("change", (event) => this.chooseOperator(event.target.value));
    byId("preset").addEventListener("change", (event) => this.choosePreset(event.target.value));
    byId("problem").addEventListener("input", (event) => this.setProblem(event.target.value));
    document.addEventListener("paste", (event) => this.paste(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.pin(null);
    });
    window.addEventListener("hashchange", () => this.restore());
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      const turned = (width < 640) !== (window.innerWidth < 640);
      width = window.innerWidth;
      if (this.state.table) drawTable(this);
      else if (turned && this.state.bag) drawBag(this);
      else if (turned && this.state.answer) this.draw();
    });
    this.restore();
  }

  // The state that the address describes, also in the field that has the focus.
  restore() {
    if (location.hash === this.work.written) return;
    this.restoring = true;
    this.readAddress();
    this.restoring = false;
  }

  readAddress() {
    this.work.written = null; // the entry is there already
    const start = document.querySelector("meta[name=sheaf-start]")?.content ?? "";
    const given = fromHash(location.hash);
    const said = given.call ? given : { ...fromHash(start), ...given };
    this.quiet = !given.call && start !== "";
    this.embed(Boolean(said.embed));
    if (!said.call) {
      const { problem, as } = findPreset(FIRST);
      this.ask(problem, findName(as), { own: false });
      return;
    }
    this.state = {
      ...this.state, show: said.show ?? "code", code: said.code ?? "python",
      other: { with: said.with, axis_b: said.axis_b, batch_b: said.batch_b, move: said.move },
    };
    const compared = this.quiet && said.show === "compare";
    this.ask(said.call, findName(said.as ?? "") ?? null, {
      own: !this.quiet,
      point: parseCell(said.point), tick: said.step === undefined ? null : Number(said.step),
    });
    // Who opens the page of a pair came for the comparison.
    if (compared) byId("tabs").scrollIntoView({ block: "start" });
  }

  // In another page: the picture, its run, and the way here.
  embed(yes) {
    this.state.embed = yes;
    document.body.classList.toggle("embed", yes);
  }

  choosePreset(id) {
    const preset = findPreset(id);
    if (preset) this.ask(preset.problem, findName(preset.as), { own: false });
    else if (this.work.own) this.ask(this.work.own.problem, findName(this.work.own.as));
    else toast("Change the call, and it is kept here");
  }

  // The tensors stay if the operator takes them; else it brings its own.
  chooseOperator(id) {
    if (id === BAG) {
      this.choosePreset("embedding-bag");
      return;
    }
    const entry = findName(id);
    const { call, answer } = this.state.call ? this.settled(callAs(entry, this.state.call)) : {};
    if (answer?.tensors) this.ask(formatProblem(call), entry);
    else this.ask(exampleFor(entry), entry, { own: false });
  }

  // A problem string from outside: a preset, the address, the line that people type.
  // `own`: whether it is what "Your own" comes back to. `kind`: see Work.save.
  ask(problem, as, { point = null, tick = null, own = true, kind = problem } = {}) {
    const answer = this.engine.explain(problem);
    byId("pasted").textContent = "";
    if (answer.tensors || answer.table) this.setKind(answer);
    if (answer.table) {
      acceptTable(this, problem, answer, { own, kind });
      return;
    }
    if (answer.bag) {
      acceptBag(this, problem, answer, { point, tick, own, kind });
      return;
    }
    if (!answer.tensors) {
      this.state.problem = problem;
      this.showError(answer.error.text, false);
      this.save(kind);
      return;
    }
    const entry = as && as.op === answer.call.op ? as : this.nameFor(answer.call.op);
    this.accept({ call: callOf(answer), as: entry, problem }, answer, { point, tick, own, kind });
  }

  showTabs(answer) {
    this.tabs.show(this.state.show);
    this.code.show(answer, this.state.code);
    showKernels(byId("panel-kernels"), answer);
    this.showCompare();
  }

  // What is shown besides the picture. A call that cannot be read leaves it as it is.
  setKind(answer) {
    for (const kind of ["bag", "table"]) document.body.classList.toggle(kind, Boolean(answer[kind]));
    this.state.table = answer.table ? answer : null;
  }

  // The line that people type or paste: a problem string, or something that can be read as a call.
  setProblem(text) {
    const answer = this.engine.explain(text);
    const read = answer.tensors || answer.bag || answer.table ? null : callFromText(text);
    this.ask(read?.problem ?? text, read?.entry ?? null, { kind: "problem" });
    if (read) byId("pasted").textContent = read.note;
  }

  // Pasted beside all fields: into the tensor that has the focus, or a call; values alone are indices.
  paste(event) {
    if (event.target.closest?.("input, textarea")) return;
    const text = event.clipboardData?.getData("text") ?? "";
    const tensor = document.activeElement?.closest?.("#stage [data-tensor]")?.dataset.tensor;
    const read = callFromText(text);
    if (read) {
      this.ask(read.problem, read.entry);
      byId("pasted").textContent = read.note;
    } else if (text.trim()) this.setValues(tensor && tensor !== "output" ? tensor : "indices", text);
  }

  nameFor(op) {
    return this.state.as?.op === op ? this.state.as : nameOfOperator(op);
  }

  // A call that the library takes, if all it minds is the shape of the updates.
  settled(call) {
    const answer = this.engine.explain(formatProblem(call));
    if (!OPERATORS[call.op].scatters || (answer.tensors && call.updates.sizes !== null)) return { call, answer };
    const free = call.updates.sizes === null ? call : withFreeUpdates(call);
    const found = this.engine.explain(formatProblem(free)).tensors?.find((t) => t.name === "updates");
    if (!found || !free.updates.kept?.values) return found ? this.taken(free) : { call, answer };
    return this.taken(withFoundUpdates(free, found.sizes));
  }

  taken(call) {
    return { call, answer: this.engine.explain(formatProblem(call)) };
  }

  // Values that the new type cannot hold are made up; they come back with a type that can.
  setTensor(name, fields) {
    const call = withTensor(this.state.call, name, fields);
    const lost = "dtype" in fields && !this.settled(call).answer.tensors;
    this.setCall(lost ? withoutValues(call, name) : call, `${name} ${Object.keys(fields)}`);
  }

  setValues(name, text) {
    let fields = { values: text };
    try {
      fields = fieldsFromText(text, this.state.call[name]) ?? fields;
    } catch (error) {
      this.showError(`${name}: ${error.message}`, false);
      return;
    }
    // Indices stay of a type that indices have.
    if (name === "indices" && fields.dtype && !INDEX_DTYPES.includes(fields.dtype)) delete fields.dtype;
    if (name === "updates") delete fields.dtype;
    this.setCall(withTensor(this.state.call, name, fields), `${name} values`);
  }

  // The form has changed.
  setCall(wanted, kind) {
    const { call, answer } = this.settled(wanted);
    const problem = formatProblem(call);
    this.state.call = call;
    this.state.problem = problem;
    byId("pasted").textContent = "";
    if (answer.tensors) {
      this.accept({ call, problem }, answer, { kind });
      return;
    }
    this.showError(answer.error.text, false);
    this.form.show(call, this.state.answer);
    this.showProblem();
    this.save(kind);
  }

  accept(change, answer, { point = null, tick = null, own = true, kind = null }) {
    const shown = withLetters(answer);
    Object.assign(this.state, change, { answer, shown, point, hover: null, bag: null, table: null });
    this.links = new Links(shown);
    if (point && !(this.links.tensors[point.tensor]?.count > point.element)) this.state.point = null;
    this.player.show(shown, tick);
    this.draw();
    this.save(kind);
    if (own && !this.preset()) this.work.keep(this.state.problem, this.state.as.id);
  }

  preset() {
    const { problem, as, bag, table } = this.state;
    return PRESETS.flatMap((g) => g.presets).find((p) => p.problem === problem && (bag || table ? !p.as : p.as === as.id));
  }

  showPreset() {
    const preset = this.preset();
    byId("preset").value = preset?.id ?? "";
    byId("preset-note").textContent = preset?.note ?? "";
  }

  draw() {
    const { answer, call, as } = this.state;
    byId("call-text").textContent = callText(as, call.attributes);
    byId("summary").textContent = answer.summary[0].toUpperCase() + answer.summary.slice(1) + ".";
    byId("formula").textContent = answer.formula;
    byId("operator").value = as.id;
    this.showPreset();
    this.showError(answer.error?.text ?? "", true, fixesOf(answer, call));
    byId("objections").replaceChildren(...objections(as, call.attributes, answer.tensors)
      .map(({ kind, text }) => element("p", { class: `objection ${kind}` }, text)));
    this.form.show(call, answer, this.restoring);
    this.showProblem();
    this.stage.draw(this.state.shown, this.links);
    this.showTabs(answer);
    this.light();
  }

  showProblem() {
    const field = byId("problem");
    if (this.restoring || document.activeElement !== field) field.value = this.state.problem;
  }

  showCompare() {
    const { show, bag, problem, call, as, other } = this.state;
    if (show !== "compare") return;
    if (bag) this.compare.showBag(problem, bag, other);
    else this.compare.show(call, as, other);
  }

  // The library's own words. A call that cannot be planned leaves the last picture, greyed.
  showError(text, drawn, fixes = []) {
    const node = byId("error");
    node.hidden = !text;
    node.replaceChildren(text ? element("pre", {}, text) : "", element("div", { class: "fixes" },
      ...fixes.map(({ id, label, call }) => element("button", {
        type: "button", class: "quiet", id: `fix-${id}`, onclick: () => this.fix(call, id),
      }, label))));
    document.body.classList.toggle("stale", !drawn);
  }

  light() {
    if (this.state.table) return;
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
    if (this.state.bag) {
      editBagCell(this, cell, node);
      return;
    }
    const { values } = this.state.answer.tensors.find((t) => t.name === tensor);
    editCell(node, this.stage.views.get(tensor).svg, values[e], (text) =>
      this.setCall(withValue(this.state.call, tensor, values, e, text), `${tensor} ${e} ${text}`));
  }

  // The button is gone afterwards; the indices are what it was about.
  fix(call, id) {
    this.setCall(call, `fix ${id}`);
    this.stage.views.get("indices")?.svg.focus({ preventScroll: true });
  }

  set(change) {
    Object.assign(this.state, change);
    this.save();
  }

  hash(embed) {
    const { problem, as, point, show, code, other, bag, table } = this.state;
    if (table) return toHash({ call: problem, embed: embed ? "1" : null });
    return toHash({
      call: problem, as: bag ? null : as?.id, ...(show === "compare" ? other : {}), step: this.player.at,
      point: point && cellKey(point), show: show === "code" ? null : show, code: code === "python" ? null : code,
      embed: embed ? "1" : null,
    });
  }

  save(kind = null) {
    const hash = this.hash(this.state.embed);
    byId("open-page").href = this.share.address(false);
    if (this.quiet) this.work.begin(hash);
    else this.work.save(hash, kind);
    this.quiet = false;
  }
}

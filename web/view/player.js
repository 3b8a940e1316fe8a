// SPDX-License-Identifier: MIT
//
// The plan as moves of elements and as loops over bytes, and the buttons that run it line by line.
import { moveText } from "../model/moves.js";
import { notesOfTick, ticksOf } from "../model/ticks.js";
import { element, icon } from "./dom.js";

const LINE_MS = 420;
// Moves that are in the page at once.
const WINDOW = 120;

export class Player {
  // `on.tick(number or null)` is called when the run moves on.
  constructor(node, lines, moves, on) {
    this.on = on;
    this.lines = lines;
    this.moves = moves;
    this.at = null;
    this.timer = 0;
    const button = (id, label, content, onclick) =>
      element("button", { type: "button", id, "aria-label": label, title: label, onclick }, content);
    this.play = button("play", "Play", "Play", () => this.toggle());
    this.play.classList.add("primary");
    this.slider = element("input", {
      type: "range", id: "tick", min: 0, value: 0, "aria-label": "Line that is running",
      oninput: () => this.go(Number(this.slider.value)),
    });
    this.where = element("output", { class: "note", for: "tick" });
    this.buttons = [
      button("restart", "Back to the start", icon("M3 3v10M13 3 6 8l7 5z"), () => this.go(null)),
      button("back", "Previous line", icon("M11 3 5 8l6 5"), () => this.step(-1)),
      this.play,
      button("forward", "Next line", icon("M5 3l6 5-6 5"), () => this.step(1)),
      button("next-move", "Next move", icon("M13 3v10M3 3l7 5-7 5z"), () => this.nextMove()),
    ];
    node.append(element("div", { class: "buttons" }, ...this.buttons), this.slider, this.where);
  }

  show(answer, at) {
    this.pause();
    this.answer = answer;
    this.ticks = ticksOf(answer);
    this.at = at !== null && at < this.ticks.length ? at : null;
    const none = this.ticks.length === 0;
    for (const control of [...this.buttons, this.slider]) control.disabled = none;
    this.slider.max = Math.max(0, this.ticks.length - 1);
    this.lines.replaceChildren(...answer.plan.lines.map((line) => element("li", {},
      element("span", { class: "code" }, line), element("span", { class: "value" }))));
    this.first = null;
    this.mark();
  }

  get tick() {
    return this.at === null ? null : this.ticks[this.at];
  }

  go(at) {
    this.at = at === null ? null : Math.min(Math.max(at, 0), this.ticks.length - 1);
    this.mark();
    this.on.tick(this.at);
  }

  step(by) {
    this.pause();
    if (this.at === null) this.go(by > 0 ? 0 : null);
    else if (this.at + by < 0) this.go(null);
    else this.go(this.at + by);
  }

  nextMove() {
    this.pause();
    const from = this.at === null ? 0 : this.at + 1;
    const next = this.ticks.findIndex((tick, i) => i >= from && tick.moves);
    if (next >= 0) this.go(next);
  }

  toggle() {
    if (this.timer) {
      this.pause();
      return;
    }
    if (this.at === this.ticks.length - 1) this.at = null;
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-label", "Pause");
    // Long runs go move by move.
    const byMove = this.ticks.length > 200;
    this.timer = setInterval(() => {
      const from = this.at === null ? 0 : this.at + 1;
      const next = byMove ? this.ticks.findIndex((tick, i) => i >= from && tick.moves) : from;
      if (next < 0 || next >= this.ticks.length) this.pause();
      else this.go(next);
    }, byMove ? LINE_MS / 3 : LINE_MS);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
    this.play.setAttribute("aria-label", "Play");
  }

  // The moves around the one that runs.
  listMoves(current) {
    const { list } = this.answer.steps ?? { list: [] };
    this.moves.hidden = list.length === 0;
    const inside = this.first !== null && current >= this.first && current < this.first + WINDOW;
    if (!inside) {
      this.first = Math.max(0, Math.min(current - WINDOW / 4, list.length - WINDOW));
      this.moves.start = this.first + 1;
      this.moves.replaceChildren(...list.slice(this.first, this.first + WINDOW).map((step) =>
        element("li", {}, moveText(this.answer, step))));
      const rest = list.length - this.first - WINDOW;
      if (rest > 0) this.moves.append(element("li", { class: "rest" }, `and ${rest.toLocaleString("en")} more`));
    }
  }

  markMove() {
    const current = this.tick?.step ?? null;
    this.listMoves(current ?? 0);
    [...this.moves.children].forEach((item, i) => {
      const running = current !== null && this.first + i === current;
      item.classList.toggle("running", running);
      if (!running) return;
      // Scrolls the list, never the page.
      const { offsetTop: top, offsetHeight: height } = item;
      const { scrollTop, clientHeight } = this.moves;
      if (top < scrollTop || top + height > scrollTop + clientHeight) this.moves.scrollTop = top - clientHeight / 2;
    });
    if (current === null) this.moves.scrollTop = 0;
  }

  mark() {
    this.markMove();
    const { tick } = this;
    const notes = tick ? notesOfTick(this.answer, tick) : {};
    [...this.lines.children].forEach((item, line) => {
      const running = tick !== null && tick.line === line;
      item.classList.toggle("running", running);
      if (running) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      item.lastChild.textContent = notes[line] ?? "";
    });
    this.slider.value = this.at ?? 0;
    const points = this.answer.steps?.points ?? 0;
    const text = !this.ticks.length
      ? (points ? `${points.toLocaleString("en")} steps: too many to run here` : "Nothing to run")
      : tick ? `move ${tick.step + 1} of ${this.answer.steps.list.length}` : `${this.answer.steps.list.length} moves`;
    this.where.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
  }
}

// SPDX-License-Identifier: MIT
//
// Buttons that run two pictures at once, move by move.
import { element, icon } from "./dom.js";

const MOVE_MS = 700;

export class Stepper {
  // `onmove(number of the move, or null before the first)`
  constructor(onmove) {
    this.onmove = onmove;
    this.at = null;
    this.moves = 0;
    this.timer = 0;
    const button = (id, label, content, onclick) =>
      element("button", { type: "button", id, "aria-label": label, title: label, onclick }, content);
    this.play = button("both-play", "Play both", "Play", () => this.toggle());
    this.slider = element("input", {
      type: "range", id: "both-move", min: 0, "aria-label": "Move of both calls",
      oninput: () => this.go(Number(this.slider.value) || null),
    });
    this.where = element("output", { class: "note", for: "both-move" });
    this.buttons = [
      button("both-restart", "Both back to the start", icon("M3 3v10M13 3 6 8l7 5z"), () => this.go(null)),
      button("both-back", "Previous move of both", icon("M11 3 5 8l6 5"), () => this.step(-1)),
      this.play,
      button("both-forward", "Next move of both", icon("M5 3l6 5-6 5"), () => this.step(1)),
    ];
    this.node = element("div", { class: "stepper", role: "group", "aria-label": "Run both calls" },
      element("div", { class: "buttons" }, ...this.buttons), this.slider, this.where);
  }

  // Moves count from 1: 0 is before the first.
  show(moves, at) {
    this.moves = moves;
    this.at = at !== null && at >= 1 && at <= moves ? at : null;
    this.slider.max = moves;
    for (const control of [...this.buttons, this.slider]) control.disabled = moves === 0;
    this.mark();
  }

  go(at) {
    this.at = at === null || at < 1 ? null : Math.min(at, this.moves);
    this.mark();
    this.onmove(this.at);
  }

  step(by) {
    this.pause();
    this.go((this.at ?? 0) + by);
  }

  toggle() {
    if (this.timer) {
      this.pause();
      return;
    }
    if (this.at === this.moves) this.at = null;
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-label", "Pause both");
    this.timer = setInterval(() => {
      if ((this.at ?? 0) >= this.moves) this.pause();
      else this.go((this.at ?? 0) + 1);
    }, MOVE_MS);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
    this.play.setAttribute("aria-label", "Play both");
  }

  mark() {
    this.slider.value = this.at ?? 0;
    const text = this.at ? `move ${this.at} of ${this.moves}` : `${this.moves} moves`;
    this.where.textContent = this.moves ? text : "Nothing to run";
    this.slider.setAttribute("aria-valuetext", text);
  }
}

// SPDX-License-Identifier: MIT
//
// What would be lost: an entry of the browser's history for each change of the call, so that Back returns, and
// the last call that was the user's own, for "Your own".

const KEY = "sheaf-own";

export class Work {
  constructor() {
    this.written = null; // the hash that the page wrote last
    this.kind = null;
    // Typing into a field is one change, until the field is left.
    document.addEventListener("focusout", () => {
      this.kind = null;
    });
    this.own = this.stored();
  }

  // A page with a start of its own keeps its short address until something is changed.
  begin(hash) {
    this.written = hash;
  }

  // `kind` names a change of the call; null is a change of the view, which gets no entry.
  save(hash, kind) {
    const first = this.written === null;
    const more = kind !== null && kind === this.kind;
    if (hash === this.written) return;
    history[kind === null || more || first ? "replaceState" : "pushState"](null, "", hash);
    this.written = hash;
    if (kind !== null) this.kind = kind;
  }

  keep(problem, as) {
    this.own = { problem, as };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(this.own));
    } catch {
      // It holds until the page is left.
    }
  }

  stored() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  }
}

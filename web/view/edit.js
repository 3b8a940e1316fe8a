// SPDX-License-Identifier: MIT
//
// A value, changed in its place. Enter keeps it, Escape does not.
import { element } from "./dom.js";

export function editCell(cell, grid, value, commit) {
  const box = cell.querySelector("rect").getBoundingClientRect();
  let over = false;
  const close = (keep) => {
    if (over) return;
    over = true;
    const text = input.value.trim();
    input.remove();
    grid.focus({ preventScroll: true });
    if (keep && text && text !== value) commit(text);
  };
  const input = element("input", {
    class: "cell-input mono", "aria-label": `New value of ${cell.getAttribute("aria-label")}`,
    style: `left:${box.left + window.scrollX}px;top:${box.top + window.scrollY}px;` +
      `min-width:${Math.max(box.width, 64)}px;height:${box.height}px`,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      close(event.key === "Enter");
    },
    onblur: () => close(true),
  });
  input.value = value;
  document.body.append(input);
  input.select();
  input.focus();
}

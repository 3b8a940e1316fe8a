// SPDX-License-Identifier: MIT
//
// Light or dark: the system's choice until the button says otherwise.

const KEY = "sheaf-theme";

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page from the disk may have no storage
  }
}

export function startTheme(button, onchange) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = stored();
  const apply = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
    onchange();
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // It holds for this visit.
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

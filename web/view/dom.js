// SPDX-License-Identifier: MIT
//
// Making elements: element("p", {class: "note"}, "text", child).

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const element = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svgElement = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Drawn, since not every font has the signs of a tape deck.
export const icon = (path) => svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" },
  svgElement("path", { d: path }));

export const byId = (id) => document.getElementById(id);

let hideToast = 0;
export function toast(text) {
  const node = byId("toast");
  node.textContent = text;
  node.classList.add("shown");
  clearTimeout(hideToast);
  hideToast = setTimeout(() => node.classList.remove("shown"), 2000);
}

// The clipboard needs a secure page; a file:// page in some browsers is none.
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast("This browser does not let a page copy; select the text instead");
  }
}

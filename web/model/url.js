// SPDX-License-Identifier: MIT
//
// The whole state in the address, behind the #: a link shows what its sender saw.
//
//   call   the problem string           step   how far the loops have run
//   as     the name it is called by     point  a cell, as in output:3
//   with   the name it is compared to   show   the open tab;  code  the language in it
//   embed  1: only the picture, to be shown in another page
//   axis_b, batch_b                     axis and batch_dims of the other call;  move  how far both ran

const KEYS = ["call", "as", "with", "axis_b", "batch_b", "move", "step", "point", "show", "code", "embed"];

// Spaces as +, and what a problem string is full of as it is: an address that can be read.
function encode(text) {
  return encodeURIComponent(text).replace(/%20/g, "+")
    .replace(/%(5B|5D|7B|7D|2C|3D|3A|2F)/g, (code) => decodeURIComponent(code));
}

export function toHash(state) {
  const parts = KEYS.filter((key) => state[key] !== undefined && state[key] !== null &&
    state[key] !== "").map((key) => `${key}=${encode(String(state[key]))}`);
  return "#" + parts.join("&");
}

export function fromHash(hash) {
  const state = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = part.slice(0, at);
    if (!KEYS.includes(key)) continue;
    try {
      state[key] = decodeURIComponent(part.slice(at + 1).replace(/\+/g, " "));
    } catch {
      // Not an encoded text: the key is left out, as if it had not been there.
    }
  }
  return state;
}

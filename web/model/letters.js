// SPDX-License-Identifier: MIT
//
// Made-up values as letters: numbers that count up look like indices. Data is a, b, c, updates are A, B, C.
// Only where values are moved as they are: a sum of letters is none.

// a … z, aa, ab …
export function letter(number) {
  let text = "";
  for (let n = number + 1; n > 0; n = Math.floor((n - 1) / 26)) text = String.fromCharCode(97 + ((n - 1) % 26)) + text;
  return text;
}

const lettersOf = (count, upper) => Array.from({ length: count }, (_, e) => (upper ? letter(e).toUpperCase() : letter(e)));

// The formula ends with the value.
const respelled = (formula, value, spelled) =>
  (formula.endsWith(` ${value}`) ? formula.slice(0, formula.length - value.length) + spelled : formula);

function gatherLetters(answer, data) {
  const output = answer.tensors.at(-1);
  const { map } = answer;
  const values = output.values.map((value, e) => (map.data[e] >= 0 ? data[map.data[e]] : value));
  const formulas = map.formulas.map((formula, e) => respelled(formula, output.values[e], values[e]));
  return { output: values, map: { ...map, formulas }, steps: answer.steps };
}

function scatterLetters(answer, data, updates) {
  const { map, steps } = answer;
  const start = answer.call.onto_zeros ? steps.start ?? answer.tensors.at(-1).values.map(() => "0") : data;
  const values = [...start];
  map.data.forEach((at, e) => {
    if (at >= 0) values[at] = updates[e];
  });
  const numbers = answer.tensors.find((t) => t.name === "updates").values;
  const formulas = map.formulas.map((formula, e) => respelled(formula, numbers[e], updates[e]));
  const list = steps.list.map((step) => (step.after
    ? { ...step, after: step.after.map((_, k) => updates[step.grid + k]) } : step));
  return { output: values, map: { ...map, formulas }, steps: { ...steps, start, list } };
}

// The answer as it is shown. `answer` itself stays: code and fields have the numbers.
export function withLetters(answer) {
  const { call, tensors } = answer;
  const moved = !call?.scatters || call.reduction === "none";
  const loose = tensors?.filter((t) => t.name !== "indices" && t.name !== "output" && !t.given) ?? [];
  if (answer.bag || !answer.drawn || !moved || !loose.length) return answer;
  const shown = Object.fromEntries(tensors.map((t) => [t.name, t.values]));
  for (const tensor of loose) shown[tensor.name] = lettersOf(tensor.count, tensor.name === "updates");
  const parts = !answer.map ? {} : call.scatters ? scatterLetters(answer, shown.data, shown.updates)
    : gatherLetters(answer, shown.data);
  if (parts.output) shown.output = parts.output;
  return {
    ...answer, ...(parts.map ? { map: parts.map, steps: parts.steps } : {}),
    tensors: tensors.map((t) => ({ ...t, values: shown[t.name] })),
  };
}

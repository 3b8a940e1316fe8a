// SPDX-License-Identifier: MIT
//
// The names of other libraries, from the one table of them: names.json, which says what its fields are.
import table from "./names.json";

export const DIALECTS = table.dialects;
export const SAYS = table.says;

// What JAX writes where an index leads nowhere: not a number, or the integer farthest from use.
const LOST = {
  i8: "-128", i16: "-32768", i32: "-2147483648", i64: "-9223372036854775808", u8: "255",
  u16: "65535", u32: "4294967295", u64: "18446744073709551615", bool: "1", f8e4m3: "nan",
  f8e5m2: "nan", f16: "nan", bf16: "nan", f32: "nan", f64: "nan", c64: "(nan,nan)",
  c128: "(nan,nan)",
};

const ALL = DIALECTS.flatMap((d) => d.names.map((n) => ({ ...n, dialect: d.name })));

// Ids are unique across dialects, so that an address needs only one word.
export const findName = (id) => ALL.find((n) => n.id === id);
export const allNames = () => ALL;

// The name under which a bare problem string is shown.
export const nameOfOperator = (op) => ALL.find((n) => n.op === op);

// The attributes of a call by this name: those it takes from `attributes`, its own for the others.
export function attributesFor(entry, attributes, usual, dtype) {
  const [negative, out_of_range] = entry.rule;
  const own = { ...usual, negative, out_of_range, ...(entry.fixed ?? {}) };
  if (own.fill_value === "lost") own.fill_value = LOST[dtype] ?? "0";
  for (const key of entry.takes) {
    if (attributes[key] !== undefined && key in usual) own[key] = attributes[key];
  }
  // Of the reductions only those it has a word for.
  if (entry.words && !(own.reduction in entry.words)) [own.reduction] = Object.keys(entry.words);
  return own;
}

// The call as its dialect writes it.
export function callText(entry, attributes) {
  return entry.call.replace(/\{(axis|batch_dims|reduction)\}/g, (_, key) => {
    const value = attributes[key] ?? "0";
    return key === "reduction" ? entry.words?.[value] ?? value : value;
  });
}

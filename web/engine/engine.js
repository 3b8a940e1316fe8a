// SPDX-License-Identifier: MIT
//
// The library, as WebAssembly: problem strings in, JSON out. engine.cc has the other side.
import createEngine from "sheaf-engine";

// {explain(problem), compare(a, b), version}, once the module is compiled.
export async function loadEngine() {
  const module = await createEngine();
  const ask = (name, ...texts) =>
    JSON.parse(module.ccall(name, "string", texts.map(() => "string"), texts));
  return {
    explain: (problem) => ask("sheaf_explain", problem),
    compare: (a, b) => ask("sheaf_compare", a, b),
    version: module.ccall("sheaf_version", "string", [], []),
  };
}

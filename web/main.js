// SPDX-License-Identifier: MIT
//
// The page: one state, one way round. An input changes the state, the library is asked about it, and
// every part is shown from the answer.
import { loadEngine } from "./engine/engine.js";
import { Page } from "./view/page.js";
import { DIALECTS, findName } from "./model/dialects.js";
import { exampleFor, PRESETS } from "./model/presets.js";
import { callOf } from "./model/problem.js";
import { objections } from "./model/rules.js";
import { LANGUAGES, snippet } from "./model/snippets/snippets.js";

loadEngine().then((engine) => {
  const page = new Page(engine);
  page.start();
  // For the console, and for the tests.
  window.sheaf = {
    engine, page, presets: PRESETS, dialects: DIALECTS, languages: LANGUAGES.map((l) => l.id),
    example: (name) => exampleFor(findName(name)),
    objections: (name, problem) => {
      const answer = engine.explain(problem);
      return objections(findName(name), callOf(answer).attributes, answer.tensors);
    },
    snippet: (language, problem) => snippet(language, engine.explain(problem)),
  };
  document.documentElement.dataset.ready = "true";
}).catch((error) => {
  document.getElementById("summary").textContent = `The library did not load: ${error.message}`;
  throw error;
});

// SPDX-License-Identifier: MIT
//
// The same call as code. Everything is generated from the library's answer about the call: its
// request, its formula and its values.
import { bagOf, cBag, cppBag, jaxBag, noBag, numpyBag, pythonBag, tensorflowBag, torchBag } from "./bags.js";
import { NotExpressible, requestOf } from "./common.js";
import { jaxCode, numpyCode, tensorflowCode, torchCode } from "./arrays.js";
import { cCode, cppCode, pythonCode } from "./sheaf.js";
import { bnnsCode, directmlCode, onnxCode } from "./vendors.js";

export const LANGUAGES = [
  { id: "python", name: "Python", file: "call.py", generate: pythonCode, bag: pythonBag },
  { id: "cpp", name: "C++", file: "call.cc", generate: cppCode, bag: cppBag },
  { id: "c", name: "C", file: "call.c", generate: cCode, bag: cBag },
  { id: "numpy", name: "NumPy", file: "call.py", generate: numpyCode, bag: numpyBag },
  { id: "pytorch", name: "PyTorch", file: "call.py", generate: torchCode, bag: torchBag },
  { id: "jax", name: "JAX", file: "call.py", generate: jaxCode, bag: jaxBag },
  { id: "tensorflow", name: "TensorFlow", file: "call.py", generate: tensorflowCode, bag: tensorflowBag },
  { id: "onnx", name: "ONNX", file: "call.py", generate: onnxCode, bag: noBag },
  { id: "directml", name: "DirectML", file: "call.cc", generate: directmlCode, bag: noBag },
  { id: "bnns", name: "BNNS", file: "call.c", generate: bnnsCode, bag: noBag },
];

// {code}, or {missing}: what the language has no way to say.
export function snippet(id, answer) {
  const language = LANGUAGES.find((l) => l.id === id);
  if (!answer.drawn) return { missing: "values here: the tensors are too large to be written down" };
  try {
    return { code: answer.bag ? language.bag(bagOf(answer)) : language.generate(requestOf(answer)) };
  } catch (error) {
    if (error instanceof NotExpressible) return { missing: error.message };
    throw error;
  }
}

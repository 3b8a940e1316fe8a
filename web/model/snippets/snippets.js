// SPDX-License-Identifier: MIT
//
// The same call as code. Everything is generated from the library's answer about the call: its
// request, its formula and its values.
import { NotExpressible, requestOf } from "./common.js";
import { jaxCode, numpyCode, tensorflowCode, torchCode } from "./arrays.js";
import { cCode, cppCode, pythonCode } from "./sheaf.js";
import { bnnsCode, directmlCode, onnxCode } from "./vendors.js";

export const LANGUAGES = [
  { id: "python", name: "Python", file: "call.py", generate: pythonCode },
  { id: "cpp", name: "C++", file: "call.cc", generate: cppCode },
  { id: "c", name: "C", file: "call.c", generate: cCode },
  { id: "numpy", name: "NumPy", file: "call.py", generate: numpyCode },
  { id: "pytorch", name: "PyTorch", file: "call.py", generate: torchCode },
  { id: "jax", name: "JAX", file: "call.py", generate: jaxCode },
  { id: "tensorflow", name: "TensorFlow", file: "call.py", generate: tensorflowCode },
  { id: "onnx", name: "ONNX", file: "call.py", generate: onnxCode },
  { id: "directml", name: "DirectML", file: "call.cc", generate: directmlCode },
  { id: "bnns", name: "BNNS", file: "call.c", generate: bnnsCode },
];

// {code}, or {missing}: what the language has no way to say.
export function snippet(id, answer) {
  const language = LANGUAGES.find((l) => l.id === id);
  if (!answer.drawn) return { missing: "values here: the tensors are too large to be written down" };
  try {
    return { code: language.generate(requestOf(answer)) };
  } catch (error) {
    if (error instanceof NotExpressible) return { missing: error.message };
    throw error;
  }
}

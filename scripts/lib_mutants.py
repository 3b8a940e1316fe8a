# SPDX-License-Identifier: MIT
"""Finds the validations of a C++ file, and writes the file with a switch in each. For scripts/mutate.

A validation is an `if` whose block refuses. It has one mutant in which it is never taken, and one
for each part of a condition `a || b`. Left out are those that no input makes true:

- `if (!made.is_valid())` and `if (made == nullptr)` whose block only passes on the error that Python
  has set: the call that made nothing has refused already;
- those that only a GPU, or a PyTorch other than the one installed, makes true (ELSEWHERE).
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFUSES = re.compile(
    r"\b(refuse\w*|throw\w*|reject\w*|report\w*|invalid\w*|fail\w*|raise\w*|PyErr_SetString"
    r"|PyErr_Format|E_[A-Z]+|SHEAF_INVALID_ARGUMENT|\w*[pP]roblem|kNoMemory)\b")
# Returns the words of a refusal, which the caller throws.
SAYS_WHY = re.compile(r'\breturn\s+"[^"]* [^"]*"')
# Folders inside the others that these builds leave out: stand-ins for what is not installed, what
# needs a GPU or JAX, and headers that users compile without our sources.
NOT_BUILT = re.compile(r"/(no_\w+|cuda|jax|include)/")
# Passes on an error of CPython, NumPy or PyTorch.
PASSES_ON = re.compile(r"\s*throw nb::python_error\(\);\s*")
FAILED_CALL = re.compile(r"\s*(!\w+\.is_valid\(\)|\w+ == nullptr)\s*")
# Mutants, by their keys, that no machine without a GPU can kill: arrays are on a GPU, its workspace
# is made, or PyTorch has no C functions to make a result with.
ELSEWHERE = {
    "python/src/call.cc: other != nullptr",
    "python/src/gpu.cc: type.api->current_stream(kDLCUDA, device, &stream) != 0",
    "python/src/moves.cc: views[i].on_gpu()",
    "python/src/plans.cc: view.on_gpu()",
    'python/src/results.cc: !nb::hasattr(like, "__array_namespace__")',
    "python/src/torch_calls.cc: !same",
    "python/src/torch_calls.cc: placement.on_gpu || !has_torch_shim()",
    "python/src/torch_calls.cc: placement.on_gpu",
    "python/src/torch_calls.cc: !has_torch_shim()",
    "python/src/torch_calls.cc: !started && error.matches(PyExc_RuntimeError)",
    "python/src/torch_calls.cc: !started",
    "python/src/torch_shim.cc: !view_directly(object_, array_type_of(object_), made)",
}
MUTANT_H = """// SPDX-License-Identifier: MIT
#pragma once
#include <cstdlib>
namespace sheaf {
inline int chosen_mutant() {
  const char* const text = std::getenv("SHEAF_MUTANT");
  return text == nullptr ? -1 : std::atoi(text);
}
inline const int kChosenMutant = chosen_mutant();
constexpr bool unless_mutant(int number) {
  return __builtin_is_constant_evaluated() || kChosenMutant != number;
}
}  // namespace sheaf
"""


def mask(text):
    """The same text with comments and literals blanked, so that brackets can be counted."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(masked, at):
    """Where the bracket that opens at `at` is closed."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth = []
    for i in range(at, len(masked)):
        if masked[i] in pairs:
            depth.append(pairs[masked[i]])
        elif depth and masked[i] == depth[-1]:
            depth.pop()
            if not depth:
                return i
    raise ValueError("unbalanced brackets")


def split_top(masked, begin, end, separator):
    """The parts of masked[begin:end] between separators that are in no bracket."""
    parts, depth, start, i = [], 0, begin, begin
    while i < end:
        depth += (masked[i] in "([{") - (masked[i] in ")]}")
        if depth == 0 and masked.startswith(separator, i):
            parts.append((start, i))
            i += len(separator)
            start = i
        else:
            i += 1
    return parts + [(start, end)]


def conditions(text):
    """(begin, end, declared) of the conditions whose block refuses: what has to become false.
    `declared` is the variable of `if (const auto x = …)`, whose value is the condition."""
    masked = mask(text)
    for match in re.finditer(r"\bif \(", masked):
        opened = match.end() - 1
        closed = closing(masked, opened)
        block = re.compile(r"\s*\{").match(masked, closed + 1)
        if not block:
            continue
        block_end = closing(masked, block.end() - 1)
        body = masked[block.end():block_end]
        refuses = REFUSES.search(body) or SAYS_WHY.search(text[block.end():block_end])
        if not refuses or body.count("\n") > 12 or re.search(r"\bif \(", body):
            continue
        begin, end = split_top(masked, opened + 1, closed, ";")[-1]
        if PASSES_ON.fullmatch(body) and FAILED_CALL.fullmatch(masked[begin:end]):
            continue
        declaration = re.match(r"\s*(?:const )?(?:auto|[\w:<>]+)[*&]?(?: const)? [*&]?(\w+) = ",
                               masked[begin:end])
        yield begin, end, declaration[1] if declaration else None


def mutants_of(path, first):
    """The text with switches in it, and its mutants: {number, file, line, text}."""
    text = (ROOT / path).read_text()
    masked = mask(text)
    edits, mutants = [], []

    def add(begin, end):
        number = first + len(mutants)
        line = text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())) + 1
        mutants.append({"number": number, "file": path, "line": line,
                        "text": " ".join(text[begin:end].split())})
        return number

    for begin, end, declared in conditions(text):
        if declared:
            edits.append((end, end, f"; sheaf::unless_mutant({add(begin, end)}) && {declared}"))
            continue
        clauses = split_top(masked, begin, end, "||")
        whole = add(begin, end)
        parts = []
        for clause_begin, clause_end in clauses:
            clause = text[clause_begin:clause_end]
            if len(clauses) > 1:
                clause = f"(sheaf::unless_mutant({add(clause_begin, clause_end)}) && ({clause}))"
            parts.append(clause)
        edits.append((begin, end, f"sheaf::unless_mutant({whole}) && ({' || '.join(parts)})"))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return '#include "support/mutant.h"\n' + text, mutants


def sources(folders):
    """The C++ files of the folders that are built, and the folder each was found by."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".cc", ".h") and not NOT_BUILT.search(name):
                yield name


def all_mutants(folders):
    """Every mutant, and the changed texts by file."""
    mutants, texts, seen = [], {}, {}
    for name in dict.fromkeys(sources(folders)):  # folders lie in each other
        text, found = mutants_of(name, len(mutants))
        if found:
            texts[name] = text
        mutants += found
    for mutant in mutants:
        mutant["key"] = key_of(mutant, seen)
    return [m for m in mutants if m["key"] not in ELSEWHERE], texts


def key_of(mutant, seen):
    """Stays the same while lines move; counts conditions that are written alike."""
    name = f"{mutant['file']}: {mutant['text']}"
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} #{seen[name]}"

// SPDX-License-Identifier: MIT
//
// Sheaf's refusals as Python exceptions. The classes are written in Python (sheaf/_errors.py);
// which one a refusal becomes is decided here.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <string_view>

#include "plan/request.h"
#include "sheaf/error.h"
#include "sheaf/fixed.h"

namespace sheaf::python {

namespace nb = nanobind;

nb::tuple tuple_of(const Dims& dims);

// Fetches the classes and teaches nanobind to translate sheaf::Error.
void load_errors();

// The exception for a plan that could not be made: a bad axis becomes AxisError, wrong types
// DTypeError, everything else what the code says.
[[noreturn]] void raise_refusal(const Request& request, const Error& error);

// The exception for an error of a call with many parts: its cause says which class.
[[noreturn]] void raise_by_cause(const Error& error);

// The reverse: throws what Python raised as an error that raise_by_cause() makes the same class of.
// `who` is the call, where the text does not name one. Interrupts pass unchanged.
[[noreturn]] void throw_as_error(nb::python_error& error, std::string_view who);

// Sets Python's error for a C++ exception, as nanobind does where it calls the function.
void set_python_error(const std::exception_ptr& exception);

// Refusals of the Python side itself. `text` is one that refusal_text() below makes.
[[noreturn]] void raise_argument(const std::string& text);
[[noreturn]] void raise_axis(const std::string& text);
[[noreturn]] void raise_dtype(const std::string& text);
[[noreturn]] void raise_unsupported(const std::string& text);
[[noreturn]] void raise_buffer(const std::string& text);

// Raises an exception that did not come from Sheaf as one that did, with the same class of
// Python's, and with the original as its cause. Interrupts and Sheaf's own pass unchanged.
[[noreturn]] void raise_as_refusal(nb::python_error& error, const std::string& what,
                                   const std::string& next);

// The three lines of a refusal that speaks of no shapes.
std::string refusal_text(const std::string& what, const std::string& detail,
                         const std::string& next);

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// The one place that writes a refusal: its data (Cause) and its words, put together as four lines.
#pragma once

#include <string>
#include <string_view>

#include "plan/request.h"
#include "sheaf/error.h"

namespace sheaf {

// "data f32[3, 5]   indices i64[4]   axis 1   output f32[3, 4]"
std::string describe(const Request& request);

// The command that draws this request: "sheaf explain 'gather f32[3,5] i64[4] axis=1'". What it
// quotes is a problem string (tools/problem), which reads back as this request without strides.
// `values` are those of indices, as in "={0,7}"; empty: none.
std::string explain_command(const Request& request, const std::string& values = {});

// The words of a refusal that speaks of a call: who asked, and all its shapes and types.
Refusal refusal_of(const Request& request, const Cause& cause, std::string what, std::string detail,
                   std::string next);

// Throws kInvalidArgument. `next` completes "try: …".
[[noreturn]] void refuse(const Request& request, const Cause& cause, std::string what,
                         std::string detail, std::string next);
[[noreturn]] void refuse(const Request& request, std::string what, std::string detail,
                         std::string next);

// Throws kUnsupported, kOutOfMemory, …
[[noreturn]] void refuse_as(ErrorCode code, const Request& request, const Cause& cause,
                            std::string what, std::string detail, std::string next);

// "what\n  detail\n  given\n  try: next": the one place that writes these lines. Without `given`,
// there are three.
std::string refusal_text(std::string_view what, std::string_view detail, std::string_view given,
                         std::string_view next);

// For callers that have no memory left to write a refusal with.
inline constexpr const char* kNoMemoryText =
    "sheaf: out of memory\n"
    "  the call could not allocate what it needs to run, or the text of its error\n"
    "  for the same reason no shapes are shown\n"
    "  try: freeing memory, then the same call again";

// Throws unless `got` is what was planned for. `tensor` is its name.
void check_planned(const Plan& plan, const char* tensor, const TensorSpec& got,
                   const TensorSpec& planned);

// The same as refuse() for a tensor that stands alone (a view being made).
[[noreturn]] void refuse_tensor(const Cause& cause, const std::string& what,
                                const std::string& detail, const std::string& shape,
                                const std::string& next);

}  // namespace sheaf

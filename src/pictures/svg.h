// SPDX-License-Identifier: MIT
//
// Coloured terminal text as a picture for documents.
#pragma once

#include <string>

namespace sheaf::pictures {

// `text` holds lines in UTF-8 with the colours of paint(). A cell's background becomes a rounded
// box; everything else is text in a monospaced font. Reads well on light and dark pages.
std::string svg_of(const std::string& text);

}  // namespace sheaf::pictures

// SPDX-License-Identifier: MIT
#pragma once

namespace sheaf::cli {

// From here on Ctrl-C and SIGTERM end the program at once, with status 130 or 143, and leave no
// unfinished file behind.
void leave_nothing_on_interrupt();

}  // namespace sheaf::cli

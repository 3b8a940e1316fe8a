// SPDX-License-Identifier: MIT
//
// The edge to C: no exception crosses it. What is thrown becomes a status, and its text the
// thread's last error.
#pragma once

#include "sheaf/c.h"

namespace sheaf {

// Only inside a catch block: the status of the exception in flight, whose text is kept for
// sheaf_last_error.
sheaf_status report_exception() noexcept;

template <class Body>
sheaf_status at_c_boundary(Body body) noexcept {
  try {
    body();
    return SHEAF_OK;
  } catch (...) {
    return report_exception();
  }
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
#include "execution/copy_rows.h"

#include <cstring>

#include "execution/registry.h"

namespace sheaf {

void copy_rows(const RowCopy& copy, int threads) {
  for (const Backend* backend : host_backends()) {
    if (backend->copy_rows != nullptr) {
      return backend->copy_rows(copy, threads);
    }
  }
  // A build without the cpu backend; GCOVR_EXCL_START
  for (int64_t i = 0; i < copy.count; ++i) {
    std::memcpy(copy.output + i * copy.row_bytes, copy.data + copy.offsets[i],
                static_cast<size_t>(copy.row_bytes));
  }
  // GCOVR_EXCL_STOP
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// A program's own DLPack header, then ours: theirs is used.
#include <dlpack/dlpack.h>

#include <sheaf/c.h>

#ifndef FOREIGN_DLPACK_WAS_USED
#error "the test does not see the foreign header"
#endif

sheaf_status gather_with_foreign_header_before(const DLTensor* data, const DLTensor* indices,
                                               const DLTensor* output) {
  return sheaf_gather(data, indices, output, NULL);
}

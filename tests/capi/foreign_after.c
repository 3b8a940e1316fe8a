// SPDX-License-Identifier: MIT
//
// Ours, then the program's own: ours is used.
#include <sheaf/c.h>

#include <dlpack/dlpack.h>

#ifdef FOREIGN_DLPACK_WAS_USED
#error "two headers have defined DLPack's structs"
#endif

sheaf_status gather_with_foreign_header_after(const DLTensor* data, const DLTensor* indices,
                                              const DLTensor* output) {
  return sheaf_gather(data, indices, output, NULL);
}

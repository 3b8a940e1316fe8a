// SPDX-License-Identifier: MIT
//
// What belongs to a file besides its bytes and its name.
#pragma once

#include "io/file_version.h"

namespace sheaf::io {

// The permissions that a new file gets: 0666 without what the process's umask takes away.
unsigned default_permissions();

// Gives `descriptor` owner, group, permissions and extended attributes (access lists among them) of
// `old`. Refuses if the owner cannot be kept; attributes that cannot be are left out.
void keep_attributes(const FileVersion& old, int descriptor);

}  // namespace sheaf::io

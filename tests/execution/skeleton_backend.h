// SPDX-License-Identifier: MIT
//
// The smallest backend there can be: docs/extending.md walks through it.
#pragma once

#include "execution/backend.h"

const sheaf::Backend& skeleton_backend();

// Runs of its kernels in this process.
int skeleton_runs();

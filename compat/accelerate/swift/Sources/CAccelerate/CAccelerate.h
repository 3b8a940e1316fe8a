// SPDX-License-Identifier: MIT
//
// The C declarations under a name of their own: the module Accelerate is the Swift one.
#pragma once

#include <sheaf/bnns.h>

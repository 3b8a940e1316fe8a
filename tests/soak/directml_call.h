// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "helpers/rng.h"

// One operator created, compiled, dispatched and released; the number of calls, or -1.
int directml_call(Rng& rng);

// SPDX-License-Identifier: MIT
//
// Kinds of calls that the soak makes, apart from those in soak.cc. Each returns the number of calls
// it made, or -1 if a result was wrong.
#pragma once

#include "helpers/rng.h"

int bag_call(Rng& rng);       // a random bag, and a gather of its table if that is encoded
int directml_call(Rng& rng);  // one operator created, compiled, dispatched and released
int graph_call(Rng& rng);     // a DirectML graph through the COM interface; 0 where it is not built
int move_call(Rng& rng);      // a random move against plain loops
int file_call(Rng& rng);      // a file saved, gathered from and scattered into
int table_call(Rng& rng);  // a table that feeds a stand-in for a device: gathers, scatters, caches

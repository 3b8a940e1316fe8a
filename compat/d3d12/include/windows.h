// SPDX-License-Identifier: MIT
//
// What DirectML programs use of windows.h: the types of COM, and events to wait with.
#pragma once

#include "sheaf_com.h"
#include "synchapi.h"

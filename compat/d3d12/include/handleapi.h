// SPDX-License-Identifier: MIT
#pragma once

#include "synchapi.h"

// SPDX-License-Identifier: MIT
#pragma once

#include "dxgi1_6.h"

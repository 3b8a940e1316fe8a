// SPDX-License-Identifier: MIT
#pragma once

#define SHEAF_VERSION "0.1.0"
#define SHEAF_VERSION_NUMBER 100  // 10000 * major + 100 * minor + patch

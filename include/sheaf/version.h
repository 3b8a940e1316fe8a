// SPDX-License-Identifier: MIT
#pragma once

#define SHEAF_VERSION "0.1.0"

// SPDX-License-Identifier: MIT
//
// Sheaf: indexed data movement in tensors. This header is all of the C++ API.
#pragma once

#include "sheaf/cancel.h"
#include "sheaf/dtype.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "sheaf/gather.h"
#include "sheaf/index_rule.h"
#include "sheaf/io.h"
#include "sheaf/move.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"
#include "sheaf/reduction.h"
#include "sheaf/scatter.h"
#include "sheaf/tensor.h"
#include "sheaf/version.h"

// SPDX-License-Identifier: MIT
//
// Sheaf: indexed data movement in tensors. This header is all of the C++ API.
#pragma once

#include "sheaf/bag.h"
#include "sheaf/bag_gradient.h"
#include "sheaf/cancel.h"
#include "sheaf/dtype.h"
#include "sheaf/encoded_gather.h"
#include "sheaf/encoding.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "sheaf/gather.h"
#include "sheaf/index_rule.h"
#include "sheaf/io.h"
#include "sheaf/moe.h"
#include "sheaf/move.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"
#include "sheaf/reduction.h"
#include "sheaf/scatter.h"
#include "sheaf/table.h"
#include "sheaf/tensor.h"
#include "sheaf/version.h"
#include "sheaf/workers.h"

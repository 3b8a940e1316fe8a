// SPDX-License-Identifier: MIT
//
// The header as C11, with the signatures that it has to have.
#include "abi.h"

#include <sheaf/bnns.h>
#include <sheaf/c.h>  // declares sheaf_last_error too

int (*const bnns_gather_from_c)(size_t, const BNNSNDArrayDescriptor*, const BNNSNDArrayDescriptor*,
                                BNNSNDArrayDescriptor*, const BNNSFilterParameters*) = BNNSGather;
int (*const bnns_gather_nd_from_c)(const BNNSNDArrayDescriptor*, const BNNSNDArrayDescriptor*,
                                   BNNSNDArrayDescriptor*,
                                   const BNNSFilterParameters*) = BNNSGatherND;
int (*const bnns_scatter_from_c)(size_t, BNNSReduceFunction, const BNNSNDArrayDescriptor*,
                                 const BNNSNDArrayDescriptor*, BNNSNDArrayDescriptor*,
                                 const BNNSFilterParameters*) = BNNSScatter;
int (*const bnns_scatter_nd_from_c)(BNNSReduceFunction, const BNNSNDArrayDescriptor*,
                                    const BNNSNDArrayDescriptor*, BNNSNDArrayDescriptor*,
                                    const BNNSFilterParameters*) = BNNSScatterND;
size_t (*const bnns_rank_from_c)(BNNSDataLayout) = BNNSDataLayoutGetRank;
const char* (*const last_error_from_c)(void) = sheaf_last_error;

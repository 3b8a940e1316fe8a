// SPDX-License-Identifier: MIT
//
// What CheckFeatureSupport answers.
#pragma once

#include "adapters.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

inline constexpr D3D_FEATURE_LEVEL kFeatureLevel = D3D_FEATURE_LEVEL_12_1;

// E_INVALIDARG for what is not known here, for a size that is not the struct's, and for a question
// that makes no sense.
HRESULT check_feature(const Adapter& adapter, D3D12_FEATURE feature, void* data, UINT size);

}  // namespace sheaf::d3d12

// SPDX-License-Identifier: MIT
//
// The tensors of a bag that is called with their memory, as what its plan takes.
#pragma once

#include "sheaf/bag.h"

namespace sheaf {

inline BagSpecs specs_of(const BagTensors& tensors) {
  const auto spec_of = [](const std::optional<ConstTensor>& tensor) {
    return tensor ? std::optional(tensor->spec) : std::nullopt;
  };
  return {tensors.data.spec, spec_of(tensors.indices), spec_of(tensors.segments),
          spec_of(tensors.weights)};
}

inline BagMemory memory_of(const BagTensors& tensors, void* output) {
  const auto data_of = [](const std::optional<ConstTensor>& tensor) {
    return tensor ? tensor->data : nullptr;
  };
  return {tensors.data.stored,
          tensors.data.scales,
          tensors.data.zeros,
          data_of(tensors.indices),
          data_of(tensors.segments),
          data_of(tensors.weights),
          output};
}

}  // namespace sheaf

// SPDX-License-Identifier: MIT
//
// The operators of the provider, one row each: what it registers with the runtime, which nodes it
// takes, and the kernel.
#pragma once

#include <memory>
#include <span>

#include "kernel.h"

namespace sheaf::ort {

// One type constraint of an operator's schema, and the types that are taken.
struct Constraint {
  const char* name;
  std::span<const ElementType> types;
};

// An attribute that the kernel knows. Nodes with others are left to the next provider.
struct KnownAttribute {
  const char* name;
  AttributeType type;
};

struct Operator {
  const char* name;
  const char* domain;
  // The versions of the operator. Of one that is newer nothing is known, so it is not taken.
  std::span<const int> versions;
  std::span<const Constraint> constraints;
  std::span<const KnownAttribute> attributes;
  bool writes_into_data;  // the output may be the first input's memory
  bool is_neighbour;      // taken only between nodes that are taken
  // What the attributes' names and the types leave open.
  bool (*takes)(const OfferedNode& node);
  std::unique_ptr<Kernel> (*make)(const MakeKernel& made);
};

std::span<const Operator> operators();

// The operator by which the provider runs this node, given that the runtime found a kernel for its
// version and types; null: it does not.
const Operator* operator_for(const OfferedNode& node);

}  // namespace sheaf::ort

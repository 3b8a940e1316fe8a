// SPDX-License-Identifier: MIT
//
// Tables whose rows may be encoded: what a call is told of a sheaf.Encoded, or of any other array,
// which is a plain one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "sheaf/encoding.h"

namespace sheaf::python {

// Is this a sheaf.Encoded? One comparison: every call on a table asks.
bool is_encoded(nb::handle object);

// A table, and the arrays that it is made of.
struct TableViews {
  View stored;  // or the plain array
  View scales;
  View zeros;
  EncodedSpec spec;

  bool decodes() const { return spec.encoding != Encoding::kPlain; }
};

// Refuses elements that no plan has. The description is checked by the plan.
void view_table(TableViews& views, nb::handle object, std::string_view call, Placement* placement);

// The same of a table whose arrays may also be sheaf.Spec.
EncodedSpec describe_table(nb::handle object, std::string_view call);

// An array or a sheaf.Spec as one that a plan can have.
TensorSpec describe_array(nb::handle object, const Argument& argument);

// A tensor of a call, with its name for a refusal.
struct NamedView {
  const char* name;
  const View* view;
};

// Refuses arrays that are not all where the call runs. Those that were not passed have no object.
void refuse_other_devices(std::string_view call, const Placement& placement,
                          const std::vector<NamedView>& views);

// The element type that Python names: a name, or a dtype of NumPy's.
DType dtype_from(nb::handle object, std::string_view call);

}  // namespace sheaf::python

// SPDX-License-Identifier: MIT
//
// The attributes and buffers of a custom call, turned into a Request. A program of JAX may call the
// handlers with anything: what is missing, unknown or does not fit is refused.
#pragma once

#include <xla/ffi/api/ffi.h>

#include "plan/request.h"

namespace sheaf::python {

struct CustomCall {
  xla::ffi::Dictionary attributes;
  const xla::ffi::AnyBuffer& data;
  const xla::ffi::AnyBuffer& indices;
  const xla::ffi::AnyBuffer* updates;  // null: a gather
  const xla::ffi::AnyBuffer& output;
  bool on_device;
};

// On a device a bad index cannot be reported without a wait: under "fail" it is filled or skipped.
Request request_of(const CustomCall& call);

}  // namespace sheaf::python

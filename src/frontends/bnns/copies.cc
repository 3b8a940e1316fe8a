// SPDX-License-Identifier: MIT
//
// BNNSCopy, BNNSTranspose and BNNSTile: moves along fixed paths.
#include <utility>

#include "frontends/bnns/call.h"
#include "moves/moves.h"
#include "plan/byte_ranges.h"
#include "support/text.h"

namespace sheaf::bnns {
namespace {

// `prepare` gets the two tensors and returns what is to be done with them.
template <class Prepare>
int run_move(const Call& call, const BNNSFilterParameters* parameters, Prepare prepare) {
  return return_code(at_c_boundary([&] {
    const Tensor from = read_tensor(call, "input", call.input);
    const Tensor to = read_tensor(call, "output", call.output);
    check_same_meaning(call, from.spec.dtype, to.spec.dtype);
    run_options(call, parameters);  // refuses unknown flags
    for (const Tensor* tensor : {&from, &to}) {
      if (tensor->data == nullptr) {
        refuse(call, {Reason::kNull}, "null pointer",
               cat(tensor == &from ? "input" : "output", ".data is null"),
               "memory for both arrays");
      }
    }
    const moves::Work work = prepare(from.spec, to.spec);
    const void* inputs[] = {from.data};
    void* outputs[] = {to.data};
    work(inputs, outputs);
  }));
}

Call two_arrays(const char* name, const BNNSNDArrayDescriptor* from,
                const BNNSNDArrayDescriptor* to) {
  return {.name = name, .input = from, .indices = nullptr, .output = to, .has_indices = false};
}

void check_shape(const Call& call, const Dims& output, const Dims& expected) {
  if (output != expected) {
    refuse(call, {Reason::kShape}, "output has the wrong shape",
           cat("output is ", bracketed(output), ", but this call makes ", bracketed(expected)),
           cat("an output of shape ", bracketed(expected)));
  }
}

// A copy; of another type, a conversion.
moves::Work copy_or_cast(const Call& call, const TensorSpec& from, const TensorSpec& to) {
  check_shape(call, to.sizes, from.sizes);
  return from.dtype == to.dtype ? moves::copy(call.name, from, to)
                                : moves::cast(call.name, from, to);
}

}  // namespace
}  // namespace sheaf::bnns

int BNNSCopy(BNNSNDArrayDescriptor* dest, const BNNSNDArrayDescriptor* src,
             const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call = two_arrays("BNNSCopy", src, dest);
  return run_move(call, filter_params,
                  [&](const sheaf::TensorSpec& from, const sheaf::TensorSpec& to) {
                    return copy_or_cast(call, from, to);
                  });
}

int BNNSTranspose(BNNSNDArrayDescriptor* dest, const BNNSNDArrayDescriptor* src, size_t axis0,
                  size_t axis1, const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call = two_arrays("BNNSTranspose", src, dest);
  return run_move(call, filter_params, [&](sheaf::TensorSpec from, const sheaf::TensorSpec& to) {
    check_axis(call, "input", from.sizes, axis0);
    check_axis(call, "input", from.sizes, axis1);
    const int a = static_cast<int>(axis0), b = static_cast<int>(axis1);
    std::swap(from.sizes[a], from.sizes[b]);
    std::swap(from.strides[a], from.strides[b]);
    return copy_or_cast(call, from, to);
  });
}

int BNNSTile(const BNNSNDArrayDescriptor* input, BNNSNDArrayDescriptor* output,
             const BNNSFilterParameters* filter_params) {
  using namespace sheaf::bnns;
  const Call call = two_arrays("BNNSTile", input, output);
  return run_move(
      call, filter_params, [&](const sheaf::TensorSpec& from, const sheaf::TensorSpec& to) {
        sheaf::Dims repeats;
        for (int d = 0; d < from.rank() && d < to.rank(); ++d) {
          const int64_t size = from.sizes[d];
          if (size < 1 || to.sizes[d] < size || to.sizes[d] % size != 0) {
            refuse(call, {sheaf::Reason::kShape}, "output has the wrong shape",
                   sheaf::cat("dimension ", d, " has ", to.sizes[d],
                              " entries in output, which is no multiple of input's ", size),
                   "sizes that are multiples of the input's");
          }
          repeats.push_back(to.sizes[d] / size);
        }
        return sheaf::moves::tile(call.name, from, to, repeats);
      });
}

size_t BNNSNDArrayGetDataSize(const BNNSNDArrayDescriptor* array) {
  using namespace sheaf::bnns;
  size_t bytes = SIZE_MAX;
  const Call call = two_arrays("BNNSNDArrayGetDataSize", array, array);
  sheaf::at_c_boundary([&] {
    const auto range = sheaf::byte_range(read_tensor(call, "array", array).spec);
    bytes = range ? static_cast<size_t>(range->hi) : SIZE_MAX;
  });
  return bytes;
}

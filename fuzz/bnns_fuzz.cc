// SPDX-License-Identifier: MIT
//
// Calls of BNNS with any descriptors. The memory behind one is as large as
// BNNSNDArrayGetDataSize() says, or null.
#include <sheaf/bnns.h>

#include <algorithm>
#include <cstring>

#include "input.h"

namespace {

// Of the type of `like`, if there is one.
BNNSNDArrayDescriptor descriptor(fuzz::Input& input, int which,
                                 const BNNSNDArrayDescriptor* like = nullptr) {
  constexpr BNNSDataLayout kLayouts[] = {
      BNNSDataLayoutVector,       BNNSDataLayoutRowMajorMatrix, BNNSDataLayoutColumnMajorMatrix,
      BNNSDataLayout1DFirstMajor, BNNSDataLayout2DLastMajor,    BNNSDataLayout2DFirstMajor,
      BNNSDataLayout3DLastMajor,  BNNSDataLayout3DFirstMajor,   BNNSDataLayout4DFirstMajor,
      BNNSDataLayout8DFirstMajor};
  constexpr BNNSDataType kTypes[] = {BNNSDataTypeFloat32, BNNSDataTypeInt32,  BNNSDataTypeInt64,
                                     BNNSDataTypeInt8,    BNNSDataTypeUInt8,  BNNSDataTypeFloat16,
                                     BNNSDataTypeUInt32,  BNNSDataTypeBoolean};
  BNNSNDArrayDescriptor made = {};
  made.layout = input.one_in(20) ? static_cast<BNNSDataLayout>(input.wide()) : input.pick(kLayouts);
  made.data_type = like != nullptr    ? like->data_type
                   : input.one_in(20) ? static_cast<BNNSDataType>(input.wide())
                                      : input.pick(kTypes);
  for (size_t& size : made.size) {
    size = static_cast<size_t>(input.number(0, 4));
  }
  if (input.one_in(3)) {
    for (size_t& stride : made.stride) {
      stride = static_cast<size_t>(input.number(0, 12));
    }
  }
  if (input.one_in(20)) {
    made.data_scale = 0.5f;
    made.data_bias = 3;
  }
  const size_t bytes = BNNSNDArrayGetDataSize(&made);
  if (bytes <= fuzz::kMostBytes && !input.one_in(20)) {
    made.data = fuzz::memory_for(which, static_cast<int64_t>(bytes)).data();
  }
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  const auto axis = static_cast<size_t>(input.number(0, 3));
  const auto op = static_cast<BNNSReduceFunction>(input.number(0, 3));
  const int64_t call = input.below(7);
  BNNSNDArrayDescriptor from = descriptor(input, 0);
  const BNNSNDArrayDescriptor indices = descriptor(input, 1);
  BNNSNDArrayDescriptor to = descriptor(input, 2, input.one_in(4) ? nullptr : &from);
  if (from.data != nullptr && indices.data != nullptr) {
    const size_t index_bytes = BNNSNDArrayGetDataSize(&indices);
    input.fill({static_cast<std::byte*>(indices.data), index_bytes});
  }
  int status = 0;
  switch (call) {
    case 0: status = BNNSGather(axis, &from, &indices, &to, nullptr); break;
    case 1: status = BNNSGatherND(&from, &indices, &to, nullptr); break;
    case 2: status = BNNSScatter(axis, op, &from, &indices, &to, nullptr); break;
    case 3: status = BNNSScatterND(op, &from, &indices, &to, nullptr); break;
    case 4: status = BNNSCopy(&to, &from, nullptr); break;
    case 5: status = BNNSTranspose(&to, &from, axis, axis + 1, nullptr); break;
    default: status = BNNSTile(&from, &to, nullptr); break;
  }
  fuzz::require(status == 0 || std::strstr(sheaf_last_error(), "\n  try: ") != nullptr,
                "a refusal says what to try");
  return 0;
}

// SPDX-License-Identifier: MIT
//
// The gathers and scatters of Apple's BNNS (Accelerate) on any machine, and the copies that go with
// them: the names, signatures, enum values and struct layouts are Apple's. C99, C11 and C++.
// docs/bnns.md has every reading that was chosen where Apple's documentation is silent. Not to be
// mixed with Accelerate's own header in one source file: the names are the same.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

#define BNNS_MAX_TENSOR_DIMENSION 8

// Each of Apple's enums has 32 bits. In C++ they are types of their own; C11 cannot give an enum a
// size, so there the type is an integer and the constants stand in an enum without a name. Swift
// reads the header by clang, with __swift__ defined: it takes C enums of clang's kind as types, and
// asks which pointers may be null. C and C++ compilers see nothing of that.
#if defined __cplusplus
#define SHEAF_BNNS_ENUM(name) enum name : uint32_t
#elif defined __swift__
#define SHEAF_BNNS_ENUM(name)        \
  typedef enum name : uint32_t name; \
  enum name : uint32_t
#else
#define SHEAF_BNNS_ENUM(name) \
  typedef uint32_t name;      \
  enum
#endif

#ifdef __swift__
#define SHEAF_BNNS_NULLABLE _Nullable
#pragma clang assume_nonnull begin
#else
#define SHEAF_BNNS_NULLABLE
#endif

// The low bits are the number of bits of an element.
SHEAF_BNNS_ENUM(BNNSDataType){
    BNNSDataTypeFloatBit = 0x10000,   BNNSDataTypeFloat16 = 0x10010,
    BNNSDataTypeFloat32 = 0x10020,    BNNSDataTypeBFloat16 = 0x18010,
    BNNSDataTypeIntBit = 0x20000,     BNNSDataTypeInt1 = 0x20001,
    BNNSDataTypeInt2 = 0x20002,       BNNSDataTypeInt4 = 0x20004,
    BNNSDataTypeInt8 = 0x20008,       BNNSDataTypeInt16 = 0x20010,
    BNNSDataTypeInt32 = 0x20020,      BNNSDataTypeInt64 = 0x20040,
    BNNSDataTypeUIntBit = 0x40000,    BNNSDataTypeUInt1 = 0x40001,
    BNNSDataTypeUInt2 = 0x40002,      BNNSDataTypeUInt3 = 0x40003,
    BNNSDataTypeUInt4 = 0x40004,      BNNSDataTypeUInt6 = 0x40006,
    BNNSDataTypeUInt8 = 0x40008,      BNNSDataTypeUInt16 = 0x40010,
    BNNSDataTypeUInt32 = 0x40020,     BNNSDataTypeUInt64 = 0x40040,
    BNNSDataTypeIndexedBit = 0x80000, BNNSDataTypeIndexed1 = 0x80001,
    BNNSDataTypeIndexed2 = 0x80002,   BNNSDataTypeIndexed4 = 0x80004,
    BNNSDataTypeIndexed8 = 0x80008,   BNNSDataTypeMiscellaneousBit = 0x100000,
    BNNSDataTypeBoolean = 0x100008};

// The bits above 16 are the rank. First-major: the last dimension is the one without gaps.
SHEAF_BNNS_ENUM(BNNSDataLayout){BNNSDataLayoutVector = 0x10000,
                                BNNSDataLayout1DLastMajor = 0x18000,
                                BNNSDataLayout1DFirstMajor = 0x18001,
                                BNNSDataLayoutRowMajorMatrix = 0x20000,
                                BNNSDataLayoutColumnMajorMatrix = 0x20001,
                                BNNSDataLayoutFullyConnectedSparse = 0x21001,
                                BNNSDataLayout2DLastMajor = 0x28000,
                                BNNSDataLayout2DFirstMajor = 0x28001,
                                BNNSDataLayoutImageCHW = 0x30000,
                                BNNSDataLayoutSNE = 0x30001,
                                BNNSDataLayoutNSE = 0x30002,
                                BNNSDataLayoutMHA_DHK = 0x30003,
                                BNNSDataLayout3DLastMajor = 0x38000,
                                BNNSDataLayout3DFirstMajor = 0x38001,
                                BNNSDataLayoutConvolutionWeightsOIHW = 0x40000,
                                BNNSDataLayoutConvolutionWeightsOIHrWr = 0x40001,
                                BNNSDataLayoutConvolutionWeightsIOHrWr = 0x40002,
                                BNNSDataLayoutConvolutionWeightsOIHW_Pack32 = 0x40010,
                                BNNSDataLayout4DLastMajor = 0x48000,
                                BNNSDataLayout4DFirstMajor = 0x48001,
                                BNNSDataLayout5DLastMajor = 0x58000,
                                BNNSDataLayout5DFirstMajor = 0x58001,
                                BNNSDataLayout6DLastMajor = 0x68000,
                                BNNSDataLayout6DFirstMajor = 0x68001,
                                BNNSDataLayout7DLastMajor = 0x78000,
                                BNNSDataLayout7DFirstMajor = 0x78001,
                                BNNSDataLayout8DLastMajor = 0x88000,
                                BNNSDataLayout8DFirstMajor = 0x88001};

// Of gradients only.
SHEAF_BNNS_ENUM(BNNSNDArrayFlags){BNNSNDArrayFlagBackpropSet = 0,
                                  BNNSNDArrayFlagBackpropAccumulate = 1};

SHEAF_BNNS_ENUM(BNNSFlags){BNNSFlagsUseClientPtr = 0x0001};

SHEAF_BNNS_ENUM(BNNSReduceFunction){
    BNNSReduceFunctionMax = 0,         BNNSReduceFunctionMin = 1,
    BNNSReduceFunctionArgMax = 2,      BNNSReduceFunctionArgMin = 3,
    BNNSReduceFunctionMean = 4,        BNNSReduceFunctionMeanNonZero = 5,
    BNNSReduceFunctionSum = 6,         BNNSReduceFunctionSumSquare = 7,
    BNNSReduceFunctionSumLog = 8,      BNNSReduceFunctionL1Norm = 9,
    BNNSReduceFunctionLogicalOr = 10,  BNNSReduceFunctionAny = 10,
    BNNSReduceFunctionLogicalAnd = 11, BNNSReduceFunctionAll = 11,
    BNNSReduceFunctionL2Norm = 12,     BNNSReduceFunctionLogSumExp = 13,
    BNNSReduceFunctionProduct = 14,    BNNSReduceFunctionNone = 15,
    BNNSReduceFunctionLogSum = 16};

// The contract of posix_memalign, and of free.
typedef int (*BNNSAlloc)(void* SHEAF_BNNS_NULLABLE* SHEAF_BNNS_NULLABLE memptr, size_t alignment,
                         size_t size);
typedef void (*BNNSFree)(void* SHEAF_BNNS_NULLABLE ptr);

typedef struct {
  uint32_t flags;    // BNNSFlags
  size_t n_threads;  // at most this many; 0: as many as pay
  BNNSAlloc SHEAF_BNNS_NULLABLE alloc_memory;
  BNNSFree SHEAF_BNNS_NULLABLE free_memory;
} BNNSFilterParameters;

// Of size and stride only the first n are read, n being the rank of the layout.
typedef struct {
  BNNSNDArrayFlags flags;
  BNNSDataLayout layout;
  size_t size[BNNS_MAX_TENSOR_DIMENSION];
  size_t stride[BNNS_MAX_TENSOR_DIMENSION];  // in elements, not decreasing; 0: without gaps
  void* SHEAF_BNNS_NULLABLE data;
  BNNSDataType data_type;
  void* SHEAF_BNNS_NULLABLE table_data;
  BNNSDataType table_data_type;
  float data_scale;
  float data_bias;
} BNNSNDArrayDescriptor;

// The rank of a layout, SIZE_MAX if it is none of the above.
size_t BNNSDataLayoutGetRank(BNNSDataLayout layout);

// The bytes from the first to the last element of an array; SIZE_MAX if the descriptor is not
// sound.
size_t BNNSNDArrayGetDataSize(const BNNSNDArrayDescriptor* array);

// What the functions below return. The numbers -1003 and -1005 are those that BNNS was seen to
// return; Apple names none.
enum {
  SHEAF_BNNS_OK = 0,
  SHEAF_BNNS_INVALID_ARGUMENT = -1003,    // a descriptor, shape, type or pointer
  SHEAF_BNNS_INDEX_OUT_OF_RANGE = -1005,  // an index value
  SHEAF_BNNS_UNSUPPORTED = -2001,         // no kernel of this build takes the call
  SHEAF_BNNS_OUT_OF_MEMORY = -2002,
  SHEAF_BNNS_INTERNAL_ERROR = -2003  // a bug in Sheaf; please report the text
};

// Slices of `input` along one axis. `indices` is a vector, or has the shape of `output`:
//   output[i, q, k] = input[i, indices[q], k]           (axis 1, a vector)
//   output[i, j, k] = input[i, indices[i, j, k], k]     (axis 1, the output's shape)
int BNNSGather(size_t axis, const BNNSNDArrayDescriptor* input,
               const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
               const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// Elements or slices of `input` by lookup vectors, which lie along the last dimension of `indices`:
//   output[g, s] = input[indices[g, 0], indices[g, 1], ..., s]
int BNNSGatherND(const BNNSNDArrayDescriptor* input, const BNNSNDArrayDescriptor* indices,
                 BNNSNDArrayDescriptor* output,
                 const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// Slices of `output` along one axis, changed by those of `input`: `op` says how, and is
// BNNSReduceFunctionNone (the last one wins) or BNNSReduceFunctionSum. The rest of `output` keeps
// its values. `indices` is a vector, or has the shape of `input`:
//   output[i, indices[q], k] = op(output[i, indices[q], k], input[i, q, k])    (axis 1, a vector)
//   output[i, indices[i, j, k], k] = op(..., input[i, j, k])     (axis 1, the input's shape)
int BNNSScatter(size_t axis, BNNSReduceFunction op, const BNNSNDArrayDescriptor* input,
                const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
                const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// Elements or slices of `output` by lookup vectors, changed likewise:
//   output[indices[g, 0], indices[g, 1], ..., s] = op(..., input[g, s])
int BNNSScatterND(BNNSReduceFunction op, const BNNSNDArrayDescriptor* input,
                  const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
                  const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// dest = src, of the same shape; layouts, strides and types may differ. Types are converted as
// sheaf::cast does. They may not overlap.
int BNNSCopy(BNNSNDArrayDescriptor* dest, const BNNSNDArrayDescriptor* src,
             const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// dest = src with two axes exchanged. Not in place.
int BNNSTranspose(BNNSNDArrayDescriptor* dest, const BNNSNDArrayDescriptor* src, size_t axis0,
                  size_t axis1, const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// output[i] = input[i mod size] in every dimension; each size of `output` is a multiple of input's.
int BNNSTile(const BNNSNDArrayDescriptor* input, BNNSNDArrayDescriptor* output,
             const BNNSFilterParameters* SHEAF_BNNS_NULLABLE filter_params);

// What went wrong in the last call on this thread that failed, in four lines; "" if none has.
// Sheaf's own, and the same function as in sheaf/c.h.
const char* sheaf_last_error(void);

#ifdef __swift__
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

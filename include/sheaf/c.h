// SPDX-License-Identifier: MIT
//
// Sheaf for C11 (and C++): the gathers of sheaf/gather.h and the scatters of sheaf/scatter.h on
// DLPack tensors, and behind them (sheaf/c_bags.h) bags and encoded tables. docs/c_api.md shows a
// program.
//
// Every option struct may be set to zero, {0}: zero is the operator's default in each field. NULL
// options are the same. Each begins with its own size: 0 stands for the struct of version 0.1, and
// a program that sets sizeof keeps working with libraries whose structs have grown. A function that
// fails returns its status, leaves the output untouched and keeps a text for sheaf_last_error.
// Functions may be called from many threads at once.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sheaf/dlpack.h"
#include "sheaf/version.h"

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sheaf_status {
  SHEAF_OK = 0,
  SHEAF_INVALID_ARGUMENT = 1,    // shapes, types, strides, pointers, devices, options
  SHEAF_INDEX_OUT_OF_RANGE = 2,  // an index value, under SHEAF_FAIL
  SHEAF_UNSUPPORTED = 3,         // no kernel or backend for a valid call
  SHEAF_OUT_OF_MEMORY = 4,
  SHEAF_DEVICE_ERROR = 5,    // the device reported an error
  SHEAF_FILE_ERROR = 6,      // a file is malformed, or reading or writing it failed
  SHEAF_CANCELLED = 7,       // the caller ended the run (by sheaf/cancel.h of C++)
  SHEAF_INTERNAL_ERROR = -1  // a bug in Sheaf; please report the text
} sheaf_status;

// What went wrong in the last call on this thread that failed: four lines, or "" if none has.
// Valid until the next failure on this thread.
const char* sheaf_last_error(void);

// The version of the library that is linked; SHEAF_VERSION and SHEAF_VERSION_NUMBER are those of
// the header. docs/c_api.md says what a version promises.
const char* sheaf_version(void);
int32_t sheaf_version_number(void);

// ---- What an index value means

// Does -1 count from the end, or is it out of range?
typedef enum sheaf_negative {
  SHEAF_NEGATIVE_DEFAULT = 0,  // from the end; XLA: out of range
  SHEAF_NEGATIVE_FROM_END = 1,
  SHEAF_NEGATIVE_OUT_OF_RANGE = 2
} sheaf_negative;

// What happens to a value that is still outside.
typedef enum sheaf_out_of_range {
  SHEAF_OUT_OF_RANGE_DEFAULT = 0,  // fail; XLA: clamp in a gather, skip in a scatter
  SHEAF_FAIL = 1,                  // SHEAF_INDEX_OUT_OF_RANGE; the output is untouched
  SHEAF_CLAMP = 2,                 // the nearest entry
  SHEAF_FILL = 3,                  // fill_value instead (gathers only)
  SHEAF_WRAP = 4,                  // modulo the number of entries
  SHEAF_TRUST = 5,                 // the caller promises that there is none; nothing is checked
  SHEAF_SKIP = 6                   // leave the update out (scatters only)
} sheaf_out_of_range;

// A number of no particular type, converted to the data's when a plan is made. {0} is 0.
typedef enum sheaf_scalar_kind {
  SHEAF_SCALAR_INT = 0,
  SHEAF_SCALAR_UINT = 1,
  SHEAF_SCALAR_FLOAT = 2,
  SHEAF_SCALAR_COMPLEX = 3
} sheaf_scalar_kind;

typedef struct sheaf_scalar {
  int32_t kind;  // a sheaf_scalar_kind
  union {
    int64_t as_int;
    uint64_t as_uint;
    double as_float;
    double as_complex[2];  // real, imaginary
  } value;
} sheaf_scalar;

sheaf_scalar sheaf_int(int64_t value);
sheaf_scalar sheaf_uint(uint64_t value);
sheaf_scalar sheaf_float(double value);
sheaf_scalar sheaf_complex(double real, double imaginary);

typedef struct sheaf_index_rule {
  int32_t negative;         // a sheaf_negative
  int32_t out_of_range;     // a sheaf_out_of_range
  sheaf_scalar fill_value;  // only read by SHEAF_FILL
} sheaf_index_rule;

// How a scatter combines an update with the element that is there; see sheaf/reduction.h.
typedef enum sheaf_reduction {
  SHEAF_REDUCE_NONE = 0,  // the update replaces it: the last one wins
  SHEAF_REDUCE_ADD = 1,
  SHEAF_REDUCE_SUB = 2,
  SHEAF_REDUCE_MUL = 3,
  SHEAF_REDUCE_MIN = 4,
  SHEAF_REDUCE_MAX = 5,
  SHEAF_REDUCE_MEAN = 6
} sheaf_reduction;

// ---- The gathers

// output[pre, q, post] = data[pre, indices[q], post]
typedef struct sheaf_gather_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t axis;        // negative counts from the end
  int64_t batch_dims;  // leading dimensions that data and indices share
  sheaf_index_rule rule;
} sheaf_gather_options;

// output[i, j, k] = data[indices[i, j, k], j, k]   (axis 0)
typedef struct sheaf_gather_elements_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t axis;
  int32_t broadcast;  // not 0: off the axis, dimensions of size 1 stretch
  sheaf_index_rule rule;
} sheaf_gather_elements_options;

// output[b, g, s] = data[b, indices[b, g, 0], indices[b, g, 1], ..., s]
typedef struct sheaf_gather_nd_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t batch_dims;
  sheaf_index_rule rule;
} sheaf_gather_nd_options;

// A list of `count` numbers.
typedef struct sheaf_dims {
  const int64_t* values;
  int64_t count;
} sheaf_dims;

// The general gather of XLA and StableHLO, by the names of its specification. Not optional.
typedef struct sheaf_xla_gather_options {
  size_t struct_size;  // sizeof this struct, or 0
  sheaf_dims offset_dims;
  sheaf_dims collapsed_slice_dims;
  sheaf_dims operand_batching_dims;
  sheaf_dims start_indices_batching_dims;
  sheaf_dims start_index_map;
  int64_t index_vector_dim;
  sheaf_dims slice_sizes;
  sheaf_index_rule rule;
} sheaf_xla_gather_options;

// ---- The scatters. What they share:
//   reduction     a sheaf_reduction
//   exclude_self  not 0: what was there is not part of the reduction
//   onto_zeros    not 0: start from zeros; data is not read, and may be NULL where output is given
//   relaxed       not 0: a backend may reduce in another order, if that is faster; those
//                 of the CPU keep the order
//   accumulate_f32
//                 not 0: f16, bf16 and f8 are reduced in f32, in order, and rounded once. Read
//                 only if struct_size covers it: 0 stands for a struct that ends before it

// output = data, then output[pre, indices[q], post] (reduce)= updates[pre, q, post]
typedef struct sheaf_scatter_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t axis;        // negative counts from the end
  int64_t batch_dims;  // leading dimensions that data and indices share
  int32_t reduction, exclude_self, onto_zeros, relaxed;
  sheaf_index_rule rule;
  int32_t accumulate_f32;
} sheaf_scatter_options;

// output = data, then output[indices[i, j, k], j, k] (reduce)= updates[i, j, k]   (axis 0)
typedef struct sheaf_scatter_elements_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t axis;
  int32_t reduction, exclude_self, onto_zeros, relaxed;
  sheaf_index_rule rule;
  int32_t accumulate_f32;
} sheaf_scatter_elements_options;

// output = data, then output[b, indices[b, g, 0], ..., s] (reduce)= updates[b, g, s]
typedef struct sheaf_scatter_nd_options {
  size_t struct_size;  // sizeof this struct, or 0
  int64_t batch_dims;
  int32_t reduction, exclude_self, onto_zeros, relaxed;
  sheaf_index_rule rule;
  int32_t accumulate_f32;
} sheaf_scatter_nd_options;

// The general scatter of XLA and StableHLO, by the names of its specification. Not optional.
typedef struct sheaf_xla_scatter_options {
  size_t struct_size;  // sizeof this struct, or 0
  sheaf_dims update_window_dims;
  sheaf_dims inserted_window_dims;
  sheaf_dims input_batching_dims;
  sheaf_dims scatter_indices_batching_dims;
  sheaf_dims scatter_dims_to_operand_dims;
  int64_t index_vector_dim;
  int32_t reduction, exclude_self, onto_zeros, relaxed;
  int32_t skip_whole_window;  // under SHEAF_SKIP: 0 leaves out elements that are outside, else all
  sheaf_index_rule rule;
  int32_t accumulate_f32;
} sheaf_xla_scatter_options;

// ---- One call: into the memory of `output`, whose shape and type must be the right ones. A
// scatter may have the same tensor as data and output. All tensors are in host memory, or all on
// one device that this build has code for: there the call runs on the default stream, and returns
// when it is done.
sheaf_status sheaf_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                          const sheaf_gather_options* options);
sheaf_status sheaf_gather_elements(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output,
                                   const sheaf_gather_elements_options* options);
sheaf_status sheaf_gather_nd(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                             const sheaf_gather_nd_options* options);
sheaf_status sheaf_xla_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                              const sheaf_xla_gather_options* options);
sheaf_status sheaf_scatter(const DLTensor* data, const DLTensor* indices, const DLTensor* updates,
                           const DLTensor* output, const sheaf_scatter_options* options);
sheaf_status sheaf_scatter_elements(const DLTensor* data, const DLTensor* indices,
                                    const DLTensor* updates, const DLTensor* output,
                                    const sheaf_scatter_elements_options* options);
sheaf_status sheaf_scatter_nd(const DLTensor* data, const DLTensor* indices,
                              const DLTensor* updates, const DLTensor* output,
                              const sheaf_scatter_nd_options* options);
sheaf_status sheaf_xla_scatter(const DLTensor* data, const DLTensor* indices,
                               const DLTensor* updates, const DLTensor* output,
                               const sheaf_xla_scatter_options* options);

// ---- Plans: checked once, run often, from any thread.
typedef struct sheaf_plan sheaf_plan;

// Making a plan looks at shapes, strides and types only; `data` pointers may be NULL. With `output`
// NULL the output is contiguous. On success *plan is the caller's to destroy; on failure it is
// NULL.
sheaf_status sheaf_plan_gather(const DLTensor* data, const DLTensor* indices,
                               const DLTensor* output, const sheaf_gather_options* options,
                               sheaf_plan** plan);
sheaf_status sheaf_plan_gather_elements(const DLTensor* data, const DLTensor* indices,
                                        const DLTensor* output,
                                        const sheaf_gather_elements_options* options,
                                        sheaf_plan** plan);
sheaf_status sheaf_plan_gather_nd(const DLTensor* data, const DLTensor* indices,
                                  const DLTensor* output, const sheaf_gather_nd_options* options,
                                  sheaf_plan** plan);
sheaf_status sheaf_plan_xla_gather(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output, const sheaf_xla_gather_options* options,
                                   sheaf_plan** plan);
sheaf_status sheaf_plan_scatter(const DLTensor* data, const DLTensor* indices,
                                const DLTensor* updates, const DLTensor* output,
                                const sheaf_scatter_options* options, sheaf_plan** plan);
sheaf_status sheaf_plan_scatter_elements(const DLTensor* data, const DLTensor* indices,
                                         const DLTensor* updates, const DLTensor* output,
                                         const sheaf_scatter_elements_options* options,
                                         sheaf_plan** plan);
sheaf_status sheaf_plan_scatter_nd(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* updates, const DLTensor* output,
                                   const sheaf_scatter_nd_options* options, sheaf_plan** plan);
sheaf_status sheaf_plan_xla_scatter(const DLTensor* data, const DLTensor* indices,
                                    const DLTensor* updates, const DLTensor* output,
                                    const sheaf_xla_scatter_options* options, sheaf_plan** plan);

// The gradient as another plan. Of a gather, that of data: a scatter-add onto zeros. Of a
// scatter with SHEAF_REDUCE_NONE or _ADD, that of the updates: a gather. *gradient as *plan above.
sheaf_status sheaf_plan_vjp(const sheaf_plan* plan, sheaf_plan** gradient);

// What the output must be: fills in dtype, ndim, shape and strides; `data` is NULL. Shape and
// strides are the plan's: read them while it lives, do not write them.
sheaf_status sheaf_plan_output(const sheaf_plan* plan, DLTensor* output);

// Where plans run: host threads, or a device in the order of one of its streams. A device queue has
// a workspace, which grows with the plans that run on it. One queue is for one thread at a time.
typedef struct sheaf_queue sheaf_queue;

// At most `threads`; 0: as many as pay. On success *queue is the caller's to destroy; on failure it
// is NULL.
sheaf_status sheaf_queue_host(int32_t threads, sheaf_queue** queue);

// On the device that the calling thread uses, which has to be this one. `stream` is of the device's
// own kind; NULL is the default stream.
sheaf_status sheaf_queue_device(DLDevice device, void* stream, sheaf_queue** queue);

// Waits for all that was started on the queue, and reports a bad index that the last run met. Does
// nothing on the host.
sheaf_status sheaf_queue_finish(sheaf_queue* queue);

// Waits, then frees the workspace. NULL is allowed.
void sheaf_queue_destroy(sheaf_queue* queue);

typedef struct sheaf_run_options {
  size_t struct_size;  // sizeof this struct, or 0
  int32_t threads;     // at most this many; 0: as many as pay
  const char* kernel;  // a kernel or backend by name; NULL: the first that accepts
  // Where to run. NULL: as a single call would. On a device queue a run returns before it is done,
  // and sheaf_queue_finish reports bad indices; a run under SHEAF_FAIL waits for the one before, so
  // that no report is lost.
  sheaf_queue* queue;
  int32_t output_is_fresh;  // not 0: nobody looks at the output if the run fails, so indices are
                            // checked while they are used
} sheaf_run_options;

// Runs on tensors of the planned shapes, strides and types: the first a gather, the second a
// scatter, whose data may be NULL if it starts from zeros.
sheaf_status sheaf_plan_run(const sheaf_plan* plan, const DLTensor* data, const DLTensor* indices,
                            const DLTensor* output, const sheaf_run_options* options);
sheaf_status sheaf_plan_run_scatter(const sheaf_plan* plan, const DLTensor* data,
                                    const DLTensor* indices, const DLTensor* updates,
                                    const DLTensor* output, const sheaf_run_options* options);

// The loop nest as text, and as a JSON object. The text lives as long as the plan; NULL if
// there is no memory for it, or if `plan` is NULL.
const char* sheaf_plan_str(const sheaf_plan* plan);
const char* sheaf_plan_json(const sheaf_plan* plan);

// NULL is allowed.
void sheaf_plan_destroy(sheaf_plan* plan);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#include "sheaf/c_bags.h"
#include "sheaf/c_tables.h"

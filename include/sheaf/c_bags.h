// SPDX-License-Identifier: MIT
//
// A part of sheaf/c.h, which includes it: the bags, encoded tables and gradients of sheaf/bag.h,
// sheaf/encoding.h and sheaf/bag_gradient.h. docs/bags.md says what they compute.
#pragma once

#include "sheaf/c.h"

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

// How the elements of a table are stored; docs/bags.md has the table.
typedef enum sheaf_encoding {
  SHEAF_PLAIN = 0,
  SHEAF_U8 = 1,  // codes, with scales beside them
  SHEAF_I8 = 2,
  SHEAF_U4 = 3,
  SHEAF_I4 = 4,
  SHEAF_U2 = 5,
  SHEAF_I2 = 6,
  SHEAF_F8E4M3 = 7,
  SHEAF_F8E4M3_FNUZ = 8,
  SHEAF_F8E5M2 = 9,
  SHEAF_F8E5M2_FNUZ = 10,
  SHEAF_F4E2M1 = 11,
  SHEAF_ROW_U8_F32 = 12,  // codes, with scale and bias in the row
  SHEAF_ROW_U8_F16_FRONT = 13,
  SHEAF_ROW_U4_F16 = 14,
  SHEAF_ROW_U2_F16 = 15,
  SHEAF_Q8_0 = 16,  // blocks of GGUF files
  SHEAF_Q4_0 = 17,
  SHEAF_Q4_1 = 18,
  SHEAF_Q5_0 = 19,
  SHEAF_Q5_1 = 20,
  SHEAF_Q4_K = 21,
  SHEAF_Q5_K = 22,
  SHEAF_Q6_K = 23
} sheaf_encoding;

// A table. Plain ones need `stored` only.
typedef struct sheaf_table {
  size_t struct_size;      // sizeof this struct, or 0
  int32_t encoding;        // a sheaf_encoding
  int32_t has_axis;        // not 0: blocks lie along `axis`; 0: along the last dimension
  const DLTensor* stored;  // plain: the tensor; else bytes (uint8)
  sheaf_dims sizes;        // of the decoded tensor; of a plain one those of `stored`, or none
  const DLTensor* scales;  // NULL: the encoding has none beside the codes
  const DLTensor* zeros;   // NULL: none
  int64_t block;           // elements that share a scale; 0: all along the axis
  int64_t axis;
  int64_t usual_zero;  // the zero point where there are no zeros
} sheaf_table;

typedef enum sheaf_pool {
  SHEAF_POOL_SUM = 0,
  SHEAF_POOL_MEAN = 1,
  SHEAF_POOL_MAX = 2,
  SHEAF_POOL_MIN = 3,
  SHEAF_POOL_MUL = 4,
  SHEAF_POOL_SQRTN = 5
} sheaf_pool;

typedef enum sheaf_segment_form {
  SHEAF_OFFSETS = 0,
  SHEAF_LENGTHS = 1,
  SHEAF_IDS = 2
} sheaf_segment_form;

// The tensors of a bag.
typedef struct sheaf_bag_tensors {
  size_t struct_size;  // sizeof this struct, or 0
  const sheaf_table* data;
  const DLTensor* indices;   // NULL: rows are pooled in the order in which they lie
  const DLTensor* segments;  // NULL: each row of the matrix `indices` is a bag
  const DLTensor* weights;   // NULL: none
} sheaf_bag_tensors;

typedef struct sheaf_bag_options {
  size_t struct_size;         // sizeof this struct, or 0
  int32_t pool;               // a sheaf_pool
  int32_t form;               // a sheaf_segment_form: what `segments` holds
  int32_t last_offset;        // not 0: offsets has one more entry, the end of the last bag
  int32_t has_padding;        // not 0: entries that name row `padding` are left out
  int64_t padding;            // negative counts from the end
  int64_t bags;               // with SHEAF_IDS: how many there are
  sheaf_scalar empty_value;   // of a bag without rows
  int32_t accumulate_narrow;  // not 0: products and sums in the type of the output, not in f32
  DLDataType output_type;     // all 0: that of the output, or the usual one
  sheaf_index_rule rule;      // SHEAF_SKIP leaves entries out
} sheaf_bag_options;

// ---- One call, as in sheaf/c.h.
sheaf_status sheaf_bag(const sheaf_bag_tensors* tensors, const DLTensor* output,
                       const sheaf_bag_options* options);

// Rows of encoded tables, decoded on the way, as f32, f16 or bf16. On host memory.
sheaf_status sheaf_gather_encoded(const sheaf_table* data, const DLTensor* indices,
                                  const DLTensor* output, const sheaf_gather_options* options);
sheaf_status sheaf_gather_elements_encoded(const sheaf_table* data, const DLTensor* indices,
                                           const DLTensor* output,
                                           const sheaf_gather_elements_options* options);
sheaf_status sheaf_gather_nd_encoded(const sheaf_table* data, const DLTensor* indices,
                                     const DLTensor* output,
                                     const sheaf_gather_nd_options* options);

// ---- Gradients of a bag, for a `gradient` of its output, on host memory. `stored` and the scales
// may be without memory where they are not read: under all pools but max and min, for rows and
// data.

// Of the rows that entries name: their numbers, ascending, into `rows` (i64), and their gradients
// into `values`. Both have room for *count rows or more; what is behind stays as it is. *count is
// set as soon as it is known: with `rows` and `values` NULL, that is all.
sheaf_status sheaf_bag_gradient_rows(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                     const DLTensor* rows, const DLTensor* values, int64_t* count,
                                     const sheaf_bag_options* options);
// Of the whole table; `add` not 0: added to what the output holds.
sheaf_status sheaf_bag_gradient_data(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                     const DLTensor* output, int32_t add,
                                     const sheaf_bag_options* options);
// Of the weights.
sheaf_status sheaf_bag_gradient_weights(const sheaf_bag_tensors* tensors, const DLTensor* gradient,
                                        const DLTensor* output, const sheaf_bag_options* options);

// ---- Plans of bags, as those of sheaf/c.h.
typedef struct sheaf_bag_plan sheaf_bag_plan;

sheaf_status sheaf_plan_bag(const sheaf_bag_tensors* tensors, const DLTensor* output,
                            const sheaf_bag_options* options, sheaf_bag_plan** plan);
sheaf_status sheaf_bag_plan_output(const sheaf_bag_plan* plan, DLTensor* output);
sheaf_status sheaf_bag_plan_run(const sheaf_bag_plan* plan, const sheaf_bag_tensors* tensors,
                                const DLTensor* output, const sheaf_run_options* options);
const char* sheaf_bag_plan_str(const sheaf_bag_plan* plan);
const char* sheaf_bag_plan_json(const sheaf_bag_plan* plan);
void sheaf_bag_plan_destroy(sheaf_bag_plan* plan);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

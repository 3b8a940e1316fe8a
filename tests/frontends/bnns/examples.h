// SPDX-License-Identifier: MIT
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

int gather_one_slice(float slice[4]);
int gather_one_row(float row[2]);
int gather_one_element(float element[1]);
int gather_columns(float columns[6]);
int add_rows(float sums[9]);

#ifdef __cplusplus
}
#endif

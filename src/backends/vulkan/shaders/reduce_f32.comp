#version 460
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#define NATIVE_F32
#include "reduce.glsl"
#include "scatter.glsl"
#define REDUCED reduced_floats
#include "reduce_sorted.glsl"

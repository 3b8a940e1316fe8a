#version 460
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "reduce.glsl"
#include "scatter.glsl"
#define REDUCED reduced_floats
#include "reduce_sorted.glsl"

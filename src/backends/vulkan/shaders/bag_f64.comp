#version 460
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#define NATIVE_F64
#include "bag.glsl"

#version 460
// SPDX-License-Identifier: MIT
#extension GL_GOOGLE_include_directive : require
#define NATIVE_F32
#include "gather_encoded.glsl"

// SPDX-License-Identifier: MIT
//
// A device for tests of the drivers on machines without one: its memory is the host's, and nothing
// that is started runs before its stream is waited for. What it runs is the reference backend.
#pragma once

#include <cstdint>

inline constexpr const char* kDeferred = "deferred";
inline constexpr const char* kDeferredBags = "deferred_bags";  // with kernels for bags and experts
inline constexpr int kDeferredDlpackType = 12;                 // kDLExtDev
inline constexpr int kDeferredAlignment = 4;  // of indices and of elements that are computed with

// Adds the device to the registry, once per process.
void add_deferred_device();

// Steps that were started and not run yet, on all streams.
int64_t steps_waiting();

// Runs the next `count` of a stream, so that a test can change memory between two of them.
void run_steps(int64_t count, void* stream = nullptr);

// Bytes that went between the host and the device, in both directions, so far.
int64_t transferred_bytes();

// How much locked host memory it hands out from now on.
void limit_pinned_memory(int64_t bytes);

// Whether it says that its streams are being captured.
void set_capturing(bool on);

// Whether tables made from now on have their cached rows looked up by the device.
void set_looks_up_rows(bool on);

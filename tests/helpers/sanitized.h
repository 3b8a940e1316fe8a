// SPDX-License-Identifier: MIT
//
// SHEAF_SANITIZED: 1 where the tests are built with AddressSanitizer or ThreadSanitizer, by GCC or
// by clang; otherwise 0.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHEAF_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHEAF_SANITIZED 1
#endif
#endif

#ifndef SHEAF_SANITIZED
#define SHEAF_SANITIZED 0
#endif

// SPDX-License-Identifier: MIT
//
// #include <Accelerate/Accelerate.h> on machines that are not Apple's: BNNS's gathers, scatters and
// copies, as sheaf/bnns.h declares them. On Apple's machines it is Apple's own header. Put the
// folder above this one on the include path, or ask pkg-config for sheaf-accelerate.
#pragma once

#ifdef __APPLE__
#include_next <Accelerate/Accelerate.h>
#else

// Programs say which pointers may be null. The words are clang's own; defining them away keeps
// -pedantic quiet there too. Swift reads them.
#ifndef __swift__
#ifndef _Nullable
#define _Nullable
#endif
#ifndef _Nonnull
#define _Nonnull
#endif
#ifndef _Null_unspecified
#define _Null_unspecified
#endif
#endif

#include <sheaf/bnns.h>

#endif

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Compiled with -march=x86-64-v4, see bayloom/CMakeLists.txt.
#if defined(__x86_64__)
// GCC 12 takes the undefined registers of its own intrinsics for a mistake.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define Eigen EigenX86_64_v4
#define BAYLOOM_DENSE_NAME kDenseX86_64_v4
#define BAYLOOM_DENSE_INSTRUCTIONS "x86-64-v4"
#include "bayloom/model/dense_operations.inc"
#endif

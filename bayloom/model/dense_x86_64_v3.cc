// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Compiled with -march=x86-64-v3, see bayloom/CMakeLists.txt.
#if defined(__x86_64__)
#define Eigen EigenX86_64_v3
#define BAYLOOM_DENSE_NAME kDenseX86_64_v3
#define BAYLOOM_DENSE_INSTRUCTIONS "x86-64-v3"
#include "bayloom/model/dense_operations.inc"
#endif

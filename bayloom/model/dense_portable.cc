// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Compiled as everything else.
#define Eigen EigenPortable
#define BAYLOOM_DENSE_NAME kDensePortable
#define BAYLOOM_DENSE_INSTRUCTIONS "portable"
#include "bayloom/model/dense_operations.inc"

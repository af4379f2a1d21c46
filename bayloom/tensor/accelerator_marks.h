// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Whether a loop may be kCooperative, kGridThread or kThreadReduce (`kind`), beyond what
/// CheckParallel says of the first two: primitives.h, Bind. True for other kinds.
Status CheckAcceleratorMark(const Program& program, LoopId loop, LoopKind kind);

}  // namespace bayloom::tensor

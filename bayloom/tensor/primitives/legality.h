// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// What ComputeInline would say.
Status CheckComputeInline(const Program& program, BlockId block);

}  // namespace bayloom::tensor

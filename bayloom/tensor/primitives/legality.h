#pragma once

#include "bayloom/tensor/program.h"

namespace bayloom {

/// What ComputeInline would say.
Status CheckComputeInline(const Program& program, BlockId block);

}  // namespace bayloom

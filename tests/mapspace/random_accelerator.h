// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::mapspace {

/// A product or a convolution, of up to a few hundred multiply-accumulates.
Problem RandomProblem(base::RandomStream& random);
/// Two or three levels with arrays, small memories, bandwidths and tensors kept, passed by or
/// either; blocks of one word.
Architecture RandomAccelerator(const Problem& problem, base::RandomStream& random);
/// Mostly none, else a fixed or bounded factor or a loop's place.
std::vector<Directive> RandomConstraints(const Problem& problem, const Architecture& architecture,
                                         base::RandomStream& random);

}  // namespace bayloom::mapspace

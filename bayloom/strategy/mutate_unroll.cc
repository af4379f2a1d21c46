// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/rules/rules.h"
#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {

std::unique_ptr<Mutator> MakeUnrollMutator() {
  return MakeCategoricalMutator(sketch::kUnrollMaxStep);
}

}  // namespace bayloom::strategy

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/derivations/derivations.h"

#include <iterator>

namespace bayloom::sketch {

std::vector<tensor::Schedule> Derive(const tensor::Schedule& inlined,
                                     const target::Target& target) {
  std::vector<tensor::Schedule> derived;
  for (tensor::BlockId id : inlined.program().BlocksInOrder()) {
    std::vector<tensor::Schedule> made =
        DeriveWinograd(inlined, inlined.program().blocks[id].name, target);
    std::move(made.begin(), made.end(), std::back_inserter(derived));
  }
  return derived;
}

}  // namespace bayloom::sketch

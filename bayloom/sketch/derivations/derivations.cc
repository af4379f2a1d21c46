// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/derivations/derivations.h"

#include <iterator>

namespace bayloom::sketch {

base::Registry<Derivation>& Derivations() {
  static base::Registry<Derivation> derivations(
      "derivation", {{"winograd-2x2", "3x3 convolutions in float32 by Winograd's F(2x2, 3x3)",
                      WinogradDerivation(2)},
                     {"winograd-4x4", "the same by F(4x4, 3x3)", WinogradDerivation(4)},
                     {"winograd-6x6", "the same by F(6x6, 3x3)", WinogradDerivation(6)}});
  return derivations;
}

std::vector<tensor::Schedule> Derive(const tensor::Schedule& inlined, const target::Target& target,
                                     const DerivationChoice& choice) {
  std::vector<tensor::Schedule> derived;
  for (tensor::BlockId id : inlined.program().BlocksInOrder()) {
    for (const std::string& name : Derivations().AllNames()) {
      if (!choice.Contains(name)) continue;
      std::vector<tensor::Schedule> made =
          Derivations().At(name)(inlined, inlined.program().blocks[id].name, target);
      std::move(made.begin(), made.end(), std::back_inserter(derived));
    }
  }
  return derived;
}

}  // namespace bayloom::sketch

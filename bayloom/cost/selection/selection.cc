// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {

base::Registry<SelectionMaker>& SelectionMethods() {
  static base::Registry<SelectionMaker> methods(
      "selection method",
      {{"greedy", "the best predicted", [](const auto&) { return MakeGreedySelection(); }},
       {"biased-diversity",
        "farthest first among the predictions, the better ones preferred (Bi et al. 2023)",
        MakeBiasedDiversitySelection},
       {"random", "uniform", [](const auto&) { return MakeRandomSelection(); }}});
  return methods;
}

std::unique_ptr<SelectionMethod> CreateSelection(const std::string& name,
                                                 const SelectionOptions& options) {
  return SelectionMethods().At(name)(options);
}

}  // namespace bayloom::cost

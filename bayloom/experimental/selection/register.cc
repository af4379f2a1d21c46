// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/selection/selections.h"
#include "bayloom/experimental/variants.h"

namespace bayloom::experimental {

void RegisterSelections() {
  const auto add = [](const char* name, const char* summary,
                      std::unique_ptr<cost::SelectionMethod> (*make)()) {
    cost::SelectionMethods().RegisterExperimental(
        {name, summary, [make](const cost::SelectionOptions&) { return make(); }});
  };
  add("gsx", "farthest first in feature space (Yu and Kim 2010)", MakeGsxSelection);
  add("gsy", "farthest first between predictions and measured values (Wu et al. 2019)",
      MakeGsySelection);
  add("igs", "farthest first by features and values (Wu et al. 2019)", MakeIgsSelection);
  add("core-set", "farthest first among the model's representations (Sener and Savarese 2018)",
      MakeCoreSetSelection);
  add("uncertainty", "what models trained on resampled data disagree on (Zeng et al. 2020)",
      MakeUncertaintySelection);
  add("output-diversity", "farthest first among the predictions (Bi et al. 2023)",
      MakeOutputDiversitySelection);
}

}  // namespace bayloom::experimental

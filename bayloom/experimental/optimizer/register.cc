// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "bayloom/experimental/variants.h"
#include "bayloom/optimizer/local_search.h"
#include "bayloom/optimizer/random_search.h"

namespace bayloom::experimental {

void RegisterOptimizers() {
  optimizer::Optimizers().RegisterExperimental(
      {"chain-of-trees",
       "down the chain of trees by even choices, biased to sparse branches (Rasch et al. 2018)",
       [](std::shared_ptr<const space::Space> space, const optimizer::OptimizerOptions& options) {
         return optimizer::MakeRandomSearch(std::move(space), space::SamplingMethod::kBiasedPath,
                                            options.seed);
       }});
  optimizer::Optimizers().RegisterExperimental(
      {"local-search", "hill climbing over neighbouring configurations, with restarts",
       [](std::shared_ptr<const space::Space> space, const optimizer::OptimizerOptions& options) {
         return optimizer::MakeLocalSearch(std::move(space), options.seed);
       }});
}

}  // namespace bayloom::experimental

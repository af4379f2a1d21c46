// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/user_prior.h"

#include <cmath>

namespace bayloom::optimizer {

bool AnyPrior(const space::Space& space) {
  for (int i = 0; i < space.size(); ++i) {
    if (space.parameter(i).has_prior()) return true;
  }
  return false;
}

double LogPrior(const space::Space& space, const space::Configuration& configuration) {
  double log = 0;
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    if (!parameter.has_prior() || !space.IsActive(configuration, i)) continue;
    log += std::log(1e-6 + parameter.PriorDensity(configuration.coordinates[i]));
  }
  return log;
}

}  // namespace bayloom::optimizer

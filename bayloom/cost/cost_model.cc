// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/cost_model.h"

#include "bayloom/base/hash.h"

namespace bayloom::cost {

std::vector<double> RandomScores(base::RandomStream& random, size_t count) {
  std::vector<double> scores(count);
  for (double& score : scores) score = random.Uniform();
  return scores;
}

base::RandomStream StreamAfter(uint64_t seed, int samples) {
  return base::RandomStream(base::Hasher().Add(seed).Add(static_cast<uint64_t>(samples)).Digest());
}

}  // namespace bayloom::cost

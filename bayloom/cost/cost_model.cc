#include "bayloom/cost/cost_model.h"

#include "bayloom/base/hash.h"

namespace bayloom {

std::vector<double> RandomScores(RandomStream& random, size_t count) {
  std::vector<double> scores(count);
  for (double& score : scores) score = random.Uniform();
  return scores;
}

RandomStream StreamAfter(uint64_t seed, int samples) {
  return RandomStream(Hasher().Add(seed).Add(static_cast<uint64_t>(samples)).Digest());
}

}  // namespace bayloom

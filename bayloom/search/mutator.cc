#include "bayloom/search/mutator.h"

namespace bayloom {

std::vector<WeightedMutator> CpuMutators(const Workload& workload) {
  std::vector<WeightedMutator> mutators;
  mutators.push_back({MakeTileMutator(), 0.90});
  mutators.push_back({MakeComputeLocationMutator(workload), 0.05});
  mutators.push_back({MakeUnrollMutator(), 0.03});
  mutators.push_back({MakeParallelMutator(), 0.02});
  return mutators;
}

}  // namespace bayloom

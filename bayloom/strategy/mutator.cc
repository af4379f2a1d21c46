// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {

std::vector<WeightedMutator> CpuMutators(const tensor::Workload& workload) {
  std::vector<WeightedMutator> mutators;
  mutators.push_back({MakeTileMutator(), 0.90});
  mutators.push_back({MakeComputeLocationMutator(workload), 0.05});
  mutators.push_back({MakeUnrollMutator(), 0.03});
  mutators.push_back({MakeParallelMutator(), 0.02});
  return mutators;
}

std::vector<WeightedMutator> MutatorsFor(const sketch::SpaceGenerator& space) {
  if (space.target().kind() != target::TargetKind::kNvidiaGpu) {
    return CpuMutators(space.workload());
  }
  std::vector<WeightedMutator> mutators;
  mutators.push_back({MakeLimitedMutator(space), 1});
  return mutators;
}

}  // namespace bayloom::strategy

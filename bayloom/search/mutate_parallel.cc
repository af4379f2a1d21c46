#include "bayloom/search/mutator.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom {

std::unique_ptr<Mutator> MakeParallelMutator() { return MakeCategoricalMutator(kParallelJobs); }

}  // namespace bayloom

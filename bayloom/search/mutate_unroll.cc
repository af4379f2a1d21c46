#include "bayloom/search/mutator.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom {

std::unique_ptr<Mutator> MakeUnrollMutator() { return MakeCategoricalMutator(kUnrollMaxStep); }

}  // namespace bayloom

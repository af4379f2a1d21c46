#include "bayloom/tuning/choose_program.h"

#include "bayloom/tuning/recall.h"

namespace bayloom {

ChosenProgram ChooseProgram(Store* store, const Workload& workload, const Target& target) {
  const SpaceGenerator space(workload, target);
  if (store != nullptr) {
    std::optional<MeasuredCandidate> best = RecallBest(*store, space);
    if (best) return {std::move(best->candidate.program), best->outcome};
  }
  return {space.untuned(), std::nullopt};
}

}  // namespace bayloom

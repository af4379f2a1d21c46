#include "bayloom/tuning/choose_program.h"

#include "bayloom/sketch/plain_schedule.h"
#include "bayloom/tuning/recall.h"

namespace bayloom {

ChosenProgram ChooseProgram(Store* store, const Workload& workload, const Target& target) {
  if (store != nullptr) {
    std::optional<MeasuredCandidate> best = RecallBest(*store, SpaceGenerator(workload, target));
    if (best) return {std::move(best->candidate.program), best->outcome};
  }
  return {PlainSchedule(workload, target), std::nullopt};
}

}  // namespace bayloom

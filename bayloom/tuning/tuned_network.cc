#include "bayloom/tuning/tuned_network.h"

#include <algorithm>
#include <utility>

#include "bayloom/sketch/plain_schedule.h"
#include "bayloom/tuning/restore.h"

namespace bayloom {

ChosenProgram ChooseProgram(Store* store, const Workload& workload, const Target& target) {
  if (store != nullptr) {
    std::optional<MeasuredCandidate> best = RestoreBest(*store, SpaceGenerator(workload, target));
    if (best) return {std::move(best->candidate.program), best->outcome};
  }
  return {PlainSchedule(workload, target), std::nullopt};
}

TunedNetwork TunedNetwork::Choose(TaskGraph network, const Target& target, Store* store) {
  TunedNetwork tuned{std::move(network), target, {}};
  for (const GraphTask& task : tuned.network.tasks) {
    tuned.chosen.push_back(ChooseProgram(store, task.workload, target));
  }
  return tuned;
}

std::vector<const Program*> TunedNetwork::Programs() const {
  std::vector<const Program*> programs;
  for (const ChosenProgram& program : chosen) programs.push_back(&program.program);
  return programs;
}

int TunedNetwork::TunedTasks() const {
  return static_cast<int>(std::ranges::count_if(
      chosen, [](const ChosenProgram& program) { return program.measured.has_value(); }));
}

}  // namespace bayloom

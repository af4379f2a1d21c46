// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuned_network.h"

#include <algorithm>
#include <utility>

#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {

ChosenProgram ChooseProgram(record::Store* store, const tensor::Workload& workload,
                            const target::Target& target) {
  if (store != nullptr) {
    std::optional<MeasuredCandidate> best =
        RestoreBest(*store, sketch::SpaceGenerator(workload, target));
    if (best) return {std::move(best->candidate.program), best->outcome};
  }
  return {sketch::DefaultSchedule(workload, target), std::nullopt};
}

TunedNetwork TunedNetwork::Choose(graph::TaskGraph network, const target::Target& target,
                                  record::Store* store) {
  TunedNetwork tuned{std::move(network), target, {}};
  for (const graph::GraphTask& task : tuned.network.tasks) {
    tuned.chosen.push_back(ChooseProgram(store, task.workload, target));
  }
  return tuned;
}

std::vector<const tensor::Program*> TunedNetwork::Programs() const {
  std::vector<const tensor::Program*> programs;
  for (const ChosenProgram& program : chosen) programs.push_back(&program.program);
  return programs;
}

int TunedNetwork::TunedTasks() const {
  return static_cast<int>(std::ranges::count_if(
      chosen, [](const ChosenProgram& program) { return program.measured.has_value(); }));
}

}  // namespace bayloom::tuning

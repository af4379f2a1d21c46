// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_front.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {

std::vector<FrontProgram> ProgramFront(record::Store& store, const sketch::SpaceGenerator& space,
                                       double calls,
                                       const std::vector<ProgramObjective>& objectives) {
  std::vector<FrontProgram> front;
  const std::optional<record::TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<record::TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return front;
  const std::vector<record::StoredTrial> trials =
      store.BestOf(*task, *target, std::numeric_limits<int>::max());
  std::vector<FrontProgram> known;
  for (const record::StoredTrial& trial : trials) {
    std::optional<ProgramCost> cost = CostOf(trial.outcome);
    if (!cost) continue;
    cost->seconds = std::max(cost->seconds, trials.front().outcome.value);
    known.push_back({{}, trial, *cost});
  }
  while (true) {
    std::vector<pareto::Point> points;
    for (const FrontProgram& each : known) {
      points.push_back(each.cost.ValuesFor(calls, objectives));
    }
    front.clear();
    std::vector<int> lost;  // cannot be made again
    for (const int i : pareto::FrontOf(points)) {
      Result<sketch::Candidate> candidate = RestoreCandidate(space, known[i].trial);
      if (candidate) {
        front.push_back({*std::move(candidate), known[i].trial, known[i].cost});
      } else {
        lost.push_back(i);
      }
    }
    if (lost.empty()) break;
    for (auto i = lost.rbegin(); i != lost.rend(); ++i) known.erase(known.begin() + *i);
  }
  std::ranges::stable_sort(front, {}, [](const FrontProgram& each) { return each.cost.seconds; });
  return front;
}

}  // namespace bayloom::tuning

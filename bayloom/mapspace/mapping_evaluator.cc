// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapping_evaluator.h"

#include <array>
#include <limits>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::mapspace {
namespace {

constexpr std::array<std::string_view, 3> kObjectives = {"energy", "delay", "edp"};

}  // namespace

std::string_view ToString(MapObjective objective) {
  return kObjectives[static_cast<size_t>(objective)];
}

MapObjective ParseMapObjective(std::string_view text) {
  for (size_t i = 0; i < kObjectives.size(); ++i) {
    if (kObjectives[i] == text) return static_cast<MapObjective>(i);
  }
  if (text == "cycles" || text == "latency") return MapObjective::kDelay;
  throw InputError("there is no objective '" + std::string(text) +
                   "'; there are energy, delay and edp");
}

double ValueOf(const Evaluation& evaluation, MapObjective objective) {
  switch (objective) {
    case MapObjective::kEnergy:
      return evaluation.EnergyPerMac();
    case MapObjective::kDelay:
      return static_cast<double>(evaluation.cycles);
    case MapObjective::kEnergyDelay:
      return evaluation.EnergyDelay();
  }
  return 0;
}

MapObjective TieBreakOf(MapObjective objective) {
  return objective == MapObjective::kDelay ? MapObjective::kEnergy : MapObjective::kDelay;
}

trial::Outcome FeasibleWithTieBreak(double value, MapObjective objective, double tie_break) {
  trial::Outcome outcome = trial::Outcome::Feasible(value);
  outcome.Set(ToString(TieBreakOf(objective)), tie_break);
  return outcome;
}

trial::Outcome EvaluateByModel(const AnalyticalModel& model,
                               std::span<const MapObjective> objectives, const Mapping& mapping) {
  if (!model.Fits(mapping)) {
    return trial::Outcome::Infeasible(trial::Verdict::kMemory,
                                      model.CheckFit(mapping).error().message);
  }
  const Evaluation evaluation = model.Evaluate(mapping);
  const MapObjective first = objectives[0];
  trial::Outcome outcome = FeasibleWithTieBreak(ValueOf(evaluation, first), first,
                                                ValueOf(evaluation, TieBreakOf(first)));
  for (const MapObjective other : objectives.subspan(1)) {
    outcome.Set(ToString(other), ValueOf(evaluation, other));
  }
  return outcome;
}

std::vector<double> ValuesOf(const trial::Outcome& outcome,
                             std::span<const MapObjective> objectives) {
  std::vector<double> values = {outcome.value};
  for (const MapObjective other : objectives.subspan(1)) {
    values.push_back(outcome.Get(ToString(other), std::numeric_limits<double>::infinity()));
  }
  return values;
}

std::unique_ptr<trial::Evaluator<Mapping>> MakeModelEvaluator(
    const AnalyticalModel& model, std::vector<MapObjective> objectives) {
  return std::make_unique<trial::InlineEvaluator<Mapping>>(
      [&model, objectives = std::move(objectives)](const Mapping& mapping) {
        return EvaluateByModel(model, objectives, mapping);
      });
}

}  // namespace bayloom::mapspace

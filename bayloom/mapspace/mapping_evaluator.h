// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/model.h"
#include "bayloom/trial/answer.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::mapspace {

/// What is minimized.
enum class MapObjective : uint8_t {
  kEnergy,       ///< pJ per multiply-accumulate
  kDelay,        ///< cycles
  kEnergyDelay,  ///< pJ times cycles
};

/// "energy", "delay", "edp".
std::string_view ToString(MapObjective objective);
/// Throws InputError naming them; "cycles" and "latency" mean "delay", too.
MapObjective ParseMapObjective(std::string_view text);
double ValueOf(const Evaluation& evaluation, MapObjective objective);

/// What decides between mappings whose values are equal but for rounding: cycles, or energy where
/// cycles are what is minimized. Evaluators by the model answer it as a named value.
MapObjective TieBreakOf(MapObjective objective);
/// An outcome with a value and, named, that of TieBreakOf.
trial::Outcome FeasibleWithTieBreak(double value, MapObjective objective, double tie_break);

/// What the model in this process says: the mapping's value of the first objective, or that it does
/// not fit. What breaks ties and the other objectives are named values.
trial::Outcome EvaluateByModel(const AnalyticalModel& model,
                               std::span<const MapObjective> objectives, const Mapping& mapping);
/// Of an outcome of these objectives, the value of each; infinite where one is not known.
std::vector<double> ValuesOf(const trial::Outcome& outcome,
                             std::span<const MapObjective> objectives);

/// Evaluates by the model, which must outlive the evaluator.
std::unique_ptr<trial::Evaluator<Mapping>> MakeModelEvaluator(const AnalyticalModel& model,
                                                              std::vector<MapObjective> objectives);

struct SimulatorOptions {
  /// Run by the shell with {mapping}, {problem} and {arch} replaced by files of Timeloop's YAML,
  /// which are removed afterwards. Its output is read as that of any
  /// evaluator, see ParseAnswer.
  std::string command;
  trial::AnswerFormat answer;
  double timeout_seconds = 600;  ///< for one mapping
  /// Of the address space of each process, and of the memory that all use together; 0: no limit.
  int64_t memory_limit_bytes = 0;
  int jobs = 1;  ///< mappings evaluated at the same time
  /// No network, and no file to be written to but in the folder of the mapping's files, which is
  /// TMPDIR as well.
  bool sandbox = false;
};

// Both evaluators that run programs throw InputError where a sandbox is asked for and not possible,
// or this machine cannot run so many jobs.

/// By any simulator. A command that fails, prints no value or takes too long makes the mapping
/// infeasible.
std::unique_ptr<trial::Evaluator<Mapping>> MakeSimulatorEvaluator(const Problem& problem,
                                                                  const Architecture& architecture,
                                                                  const SimulatorOptions& options);

/// By `timeloop-model`, which must be in the PATH; reads what it writes as
/// timeloop-model.stats.txt. Command and answer of the options are not used.
std::unique_ptr<trial::Evaluator<Mapping>> MakeTimeloopEvaluator(const Problem& problem,
                                                                 const Architecture& architecture,
                                                                 MapObjective objective,
                                                                 const SimulatorOptions& options);

/// The value in the summary of Timeloop's stats ("Cycles: 64", "Energy: 1.50 uJ"), the energy to
/// all digits of its parts where these are there; an error naming the line that is missing.
Result<double> ParseTimeloopStats(const std::string& stats, int64_t macs, MapObjective objective);

}  // namespace bayloom::mapspace

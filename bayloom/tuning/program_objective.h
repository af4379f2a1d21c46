// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/pareto/front.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::tuning {

/// What programs are chosen by; less is better.
enum class ProgramObjective : uint8_t {
  kLatency,  ///< seconds
  kSize,     ///< bytes that a library takes for the programs, the model's weights aside
  kMemory,   ///< bytes for intermediate values of a program while it runs
};

/// "latency", "size" or "memory".
std::string ToString(ProgramObjective objective);
/// The names with commas between.
std::string ToString(const std::vector<ProgramObjective>& objectives);
/// Names with commas between, each once: latency and others. The latency comes first in the result.
Result<std::vector<ProgramObjective>> ParseObjectives(const std::string& text);

/// What a program costs in all objectives.
struct ProgramCost {
  double seconds = 0;          ///< of a run
  double code_bytes = 0;       ///< of machine code and the constants that it reads
  double growth_bytes = 0;     ///< by which the weights of one call grow, as Winograd's do
  double workspace_bytes = 0;  ///< of all threads

  /// The cost of a task that the network calls so many times. Code is there once.
  pareto::Point ValuesFor(double calls, const std::vector<ProgramObjective>& objectives) const;
  double ValueFor(double calls, ProgramObjective objective) const;
};

/// The costs that details of a build and a time make.
ProgramCost CostOf(const measure::MeasurementDetails& details, double seconds);
/// What a trial answered; nullopt where it had no value, or where sizes are not in the record
/// (trials on GPUs and of versions before 0.2).
std::optional<ProgramCost> CostOf(const trial::Outcome& outcome);

}  // namespace bayloom::tuning

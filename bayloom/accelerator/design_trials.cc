// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_trials.h"

#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/trial/threaded_evaluator.h"

namespace bayloom::accelerator {

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeDesignTrials(
    std::shared_ptr<const DesignSpace> design, std::shared_ptr<DesignEvaluator> evaluator,
    int jobs) {
  using Evaluator = trial::ThreadedEvaluator<space::Configuration>;
  const Evaluator::Function evaluate =
      [design = std::move(design), evaluator = std::move(evaluator)](
          const space::Configuration& candidate,
          const std::stop_token& stop) -> std::optional<trial::Outcome> {
    try {
      return evaluator->Evaluate(design->ArchitectureOf(candidate, evaluator->technology()),
                                 [&stop] { return stop.stop_requested(); });
    } catch (const InputError& error) {
      return trial::Outcome::Infeasible(trial::Verdict::kBuildError,
                                        base::MessageInOneLine(error.what()));
    }
  };
  return std::make_unique<Evaluator>(std::vector<Evaluator::Function>(jobs, evaluate));
}

}  // namespace bayloom::accelerator

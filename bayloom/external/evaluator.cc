// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/external/evaluator.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/external/internal/evaluator_functions.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::external {
namespace {

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeTabulated(
    std::shared_ptr<const space::Space> space, const EvaluatorOptions& options, int jobs) {
  auto records = std::make_shared<const RecordedSpace>(
      RecordedSpace::Load(options.recorded, options.measurement));
  return std::make_unique<trial::InlineEvaluator<space::Configuration>>(
      [space = std::move(space),
       records = std::move(records)](const space::Configuration& configuration) {
        return records->OutcomeOf(space::ToJson(*space, configuration));
      },
      jobs);
}

}  // namespace

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeEvaluator(
    std::shared_ptr<const space::Space> space, const EvaluatorOptions& options, int jobs) {
  if (options.kind == EvaluatorKind::kNone) return nullptr;
  if (options.kind == EvaluatorKind::kRecorded) {
    return MakeTabulated(std::move(space), options, jobs);
  }
  trial::PrepareWorkers(jobs, options.sandbox);
  const auto guard = std::make_shared<trial::MissingCommandGuard>();
  std::vector<EvaluateConfiguration> functions;
  for (int i = 0; i < jobs; ++i) {
    functions.push_back(options.kind == EvaluatorKind::kCommand
                            ? MakeCommandFunction(space, options, guard)
                            : MakeProcessFunction(space, options));
  }
  return std::make_unique<trial::ThreadedEvaluator<space::Configuration>>(std::move(functions));
}

}  // namespace bayloom::external

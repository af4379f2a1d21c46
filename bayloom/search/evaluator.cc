// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/evaluator.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/search/evaluator_functions.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::search {
namespace {

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeTabulated(
    std::shared_ptr<const space::Space> space, const EvaluatorOptions& options, int jobs) {
  std::vector<std::string> measurements = options.answer.fields;
  measurements[0] = options.measurement;
  auto records = std::make_shared<const RecordedSpace>(
      RecordedSpace::Load(options.recorded, std::move(measurements), space.get()));
  // Of a context that has a file of its own, the records need not say which it is.
  std::vector<std::string> unrecorded;
  for (int i = 0; i < space->size(); ++i) {
    const space::Parameter& parameter = space->parameter(i);
    if (parameter.Cardinality() == 1 && !records->HasParameter(parameter.name())) {
      unrecorded.push_back(parameter.name());
    }
  }
  return std::make_unique<trial::InlineEvaluator<space::Configuration>>(
      [space = std::move(space), records = std::move(records),
       unrecorded = std::move(unrecorded)](const space::Configuration& configuration) {
        nlohmann::json values = space::ToJson(*space, configuration);
        for (const std::string& name : unrecorded) values.erase(name);
        return records->OutcomeOf(values);
      },
      jobs);
}

}  // namespace

std::string OverBestText(double factor) {
  return fmt::format(", {:g} times as long as the evaluation of the best took", factor);
}

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeEvaluator(
    std::shared_ptr<const space::Space> space, const EvaluatorOptions& options, int jobs,
    std::shared_ptr<const TimeLimit> limit) {
  if (options.kind == EvaluatorKind::kNone) return nullptr;
  if (options.kind == EvaluatorKind::kRecorded) {
    return MakeTabulated(std::move(space), options, jobs);
  }
  if (options.kind == EvaluatorKind::kKernel) {
    throw InputError("this program does not evaluate kernels");
  }
  trial::PrepareWorkers(jobs, options.sandbox);
  if (limit == nullptr) {
    limit = std::make_shared<TimeLimit>(options.timeout, options.timeout_over_best);
  }
  const auto guard = std::make_shared<trial::MissingCommandGuard>();
  const auto notices = std::make_shared<trial::Notices>();
  std::vector<EvaluateConfiguration> functions;
  for (int i = 0; i < jobs; ++i) {
    functions.push_back(options.kind == EvaluatorKind::kCommand
                            ? MakeCommandFunction(space, options, limit, guard)
                            : MakeProcessFunction(space, options, limit, notices));
  }
  return std::make_unique<trial::ThreadedEvaluator<space::Configuration>>(std::move(functions),
                                                                          notices);
}

}  // namespace bayloom::search

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/trial/evaluate_one.h"

namespace bayloom::cli {
namespace {

void EvaluateMapping(const MapArguments& arguments) {
  const accelerator::MapOptions options = arguments.Options(1);
  const mapspace::Problem problem = arguments.LoadProblem();
  const mapspace::AnalyticalModel model(
      problem, arguments.LoadArchitectureFor(problem, arguments.Constraints()), options.counting);
  const mapspace::Mapping mapping = mapspace::ReadMapping(
      arguments.mapping, model.problem(), model.architecture(), arguments.define.Variables());
  const auto evaluator = accelerator::MakeMappingEvaluator(model, options);
  const std::optional<trial::Outcome> outcome =
      trial::EvaluateOne(*evaluator, mapping, options.search.run.budget.stop);
  if (!outcome) throw CheckFailed("stopped before the mapping was evaluated");
  if (!outcome->ok()) throw InputError(arguments.mapping + ": " + outcome->reason);
  nlohmann::json about = nlohmann::json::object();
  WhyText why;
  if (arguments.why) {
    const std::vector<accelerator::NetworkLayer> layers = {{.name = "", .problem = problem}};
    const std::vector<std::optional<mapspace::Mapping>> known = {mapping};
    const accelerator::CostedLayer costed = {&model.architecture(), model.Evaluate(mapping)};
    why = ExplainMappings(layers, arguments.LoadArchitecture(), arguments.Constraints(), options,
                          known, accelerator::CostsByPart(std::span(&costed, 1)));
    about["why"] = why.json;
  }
  DeliverMapping(mapping, outcome->value, model, arguments, std::move(about));
  if (!arguments.json) fmt::print("{}", why.text);
}

}  // namespace

MapKind MappingEvaluation() {
  return {.name = "--mapping",
          .takes = {MapOption::kMapping, MapOption::kMappings, MapOption::kWhy,
                    MapOption::kEvaluator, MapOption::kFront, MapOption::kLearnFrom,
                    MapOption::kWarmStartModel, MapOption::kTopK},
          .writes_folder = false,
          .run = EvaluateMapping};
}

}  // namespace bayloom::cli

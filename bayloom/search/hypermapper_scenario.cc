// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/search/scenario_readers.h"
#include "bayloom/search/space_reader.h"

namespace bayloom::search {
namespace {

std::vector<double> Numbers(const yaml::YamlValue& field) {
  std::vector<double> numbers;
  for (const yaml::YamlValue& item : field.Items()) numbers.push_back(item.Real());
  return numbers;
}

std::vector<std::string> Texts(const yaml::YamlValue& field) {
  std::vector<std::string> texts;
  for (const yaml::YamlValue& item : field.Items()) texts.push_back(item.Text());
  return texts;
}

std::unique_ptr<space::Parameter> MakeOfType(const std::string& name,
                                             const yaml::YamlValue& field) {
  const yaml::YamlValue type = field.At("parameter_type");
  const yaml::YamlValue values = field.At("values");
  const auto transform = field.Find("transform");
  const space::Scale scale =
      transform && transform->Text() == "log" ? space::Scale::kLog : space::Scale::kLinear;
  const std::string kind = type.Text();
  return yaml::WithPlace(values, [&]() -> std::unique_ptr<space::Parameter> {
    const std::vector<yaml::YamlValue> items = values.Items();
    const bool is_range = kind == "real" || kind == "integer";
    if (is_range && items.size() != 2) values.Fail("expected two numbers: [lowest, highest]");
    if (kind == "real") return space::MakeReal(name, items[0].Real(), items[1].Real(), scale);
    if (kind == "integer") return space::MakeInteger(name, items[0].Int(), items[1].Int(), scale);
    if (kind == "ordinal") return space::MakeOrdinal(name, Numbers(values), scale);
    if (kind == "categorical") return space::MakeCategorical(name, Texts(values));
    if (kind == "permutation") {
      if (items.size() != 1) values.Fail("expected one number: [items]");
      return space::MakePermutation(
          name, static_cast<int>(items[0].IntWithin(1, space::kMaxPermutationItems)),
          ReadMetric(field, "parametrization"));
    }
    type.Fail(fmt::format("expected real, integer, ordinal, categorical or permutation, found '{}'",
                          base::SingleLine(kind)));
  });
}

/// A weight per value; of reals one per knot. "gaussian" is given by mean and deviation.
void ReadPrior(const yaml::YamlValue& field, space::Parameter& parameter) {
  const auto prior = field.Find("prior");
  if (!prior) return;
  std::vector<double> weights;
  if (prior->IsList()) {
    weights = Numbers(*prior);
  } else if (prior->Text() == "gaussian" && parameter.kind() == space::ParameterKind::kReal) {
    const yaml::YamlValue given = field.At("prior_parameters");
    const std::vector<double> shape = Numbers(given);
    if (shape.size() != 2 || !(shape[1] > 0)) given.Fail("expected [mean, deviation above zero]");
    const std::vector<double> ends = Numbers(field.At("values"));
    constexpr int kKnots = 101;
    for (int i = 0; i < kKnots; ++i) {
      const double x = ends[0] + (ends[1] - ends[0]) * i / (kKnots - 1);
      weights.push_back(std::exp(-0.5 * std::pow((x - shape[0]) / shape[1], 2)));
    }
  } else {
    return;  // "uniform", and what BaCO itself does not use
  }
  if (Status set = parameter.SetPrior(std::move(weights)); !set) prior->Fail(set.error().message);
}

std::unique_ptr<space::Parameter> ReadTheirParameter(const std::string& name,
                                                     const yaml::YamlValue& field) {
  std::unique_ptr<space::Parameter> parameter = MakeOfType(name, field);
  if (const auto value = field.Find("parameter_default")) {
    if (Status set = parameter->SetDefault(ReadValue(*value)); !set) {
      value->Fail(set.error().message);
    }
  }
  ReadPrior(field, *parameter);
  return parameter;
}

std::shared_ptr<const space::Space> ReadSpace(const yaml::YamlValue& parameters,
                                              SpaceReader& space) {
  for (const auto& [name, field] : parameters.Entries()) {
    space.Add(ReadTheirParameter(name, field), field);
  }
  for (const auto& [name, field] : parameters.Entries()) {
    const auto constraints = field.Find("constraints");
    if (!constraints) continue;
    for (const yaml::YamlValue& constraint : constraints->Items()) {
      space.AddConstraint(constraint.Text(), constraint);
    }
  }
  return space.Finish(parameters);
}

void ReadIterations(const yaml::YamlValue& top, Scenario& scenario) {
  int64_t samples = 10;
  if (const auto doe = top.Find("design_of_experiment")) {
    if (const auto number = doe->Find("number_of_samples")) {
      samples = number->IntWithin(0, 1000000);
    }
  }
  int64_t iterations = 50;
  if (const auto number = top.Find("optimization_iterations")) {
    iterations = number->IntWithin(0, 1000000);
  }
  scenario.max_trials = std::max<int64_t>(1, samples + iterations);
  scenario.optimizer_options.initial_samples = static_cast<int>(samples);
  if (const auto minutes = top.Find("time_budget"); minutes && minutes->Real() > 0) {
    scenario.max_seconds = 60 * minutes->Real();
  }
}

/// Their names of methods and models for what this project calls optimizers.
void ReadMethod(const yaml::YamlValue& top, Scenario& scenario) {
  const auto method = top.Find("optimization_method");
  const std::string name = method ? method->Text() : "bayesian_optimization";
  const auto models = top.Find("models");
  const auto model = models ? models->Find("model") : std::nullopt;
  const bool is_forest = model && model->Text() == "random_forest";
  if (name == "opentuner") {
    scenario.optimizer = "ensemble";
  } else if (name == "ytopt" || name == "ytopt_ccs" || is_forest) {
    scenario.optimizer = "forest";
  } else if (name == "evolutionary_optimization") {
    scenario.optimizer = "genetic";
  } else if (name == "exhaustive") {
    scenario.optimizer = "random";
    scenario.max_trials.reset();
  }
  optimizer::BayesianOptions& bayesian = scenario.optimizer_options.bayesian;
  if (const auto acquisition = top.Find("acquisition_function")) {
    if (acquisition->Text() == "UCB")
      bayesian.acquisition = acquisition::AcquisitionKind::kConfidenceBound;
  }
  if (const auto log = top.Find("log_transform_output"); log && log->Bool()) {
    bayesian.objective = model::ObjectiveScale::kLog;
  }
  if (const auto feasible = top.Find("feasible_output")) {
    if (const auto threshold = feasible->Find("feasibility_threshold")) {
      bayesian.feasibility_threshold = std::clamp(threshold->Real(), 0.0, 1.0);
    }
  }
}

/// What says that a configuration works. The values default to "True" where nothing is said about
/// them at all, to "true" where something is (as in BaCO).
void ReadValidity(const yaml::YamlValue& feasible, Scenario& scenario) {
  const auto enabled = feasible.Find("enable_feasible_predictor");
  if (!enabled || !enabled->Bool()) return;
  const auto name = feasible.Find("name");
  const auto true_value = feasible.Find("true_value");
  scenario.validity =
      ValidityColumn{name ? name->Text() : "Valid", true_value ? true_value->Text() : "true"};
}

}  // namespace

void ReadHyperMapperScenario(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario) {
  if (const auto name = top.Find("application_name")) scenario.name = name->Name();
  const yaml::YamlValue parameters = top.At("input_parameters");
  scenario.space = ReadSpace(parameters, space);
  const yaml::YamlValue objectives = top.At("optimization_objectives");
  const std::vector<std::string> names = Texts(objectives);
  if (names.size() != 1) objectives.Fail("expected one objective");
  scenario.objectives[0].name = names[0];
  scenario.evaluator.answer.fields = names;
  ReadIterations(top, scenario);
  ReadMethod(top, scenario);
  if (const auto feasible = top.Find("feasible_output")) ReadValidity(*feasible, scenario);
}

}  // namespace bayloom::search

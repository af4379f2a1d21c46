// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/search/scenario_readers.h"
#include "bayloom/search/space_reader.h"

namespace bayloom::search {
namespace {

constexpr int64_t kMaxTrials = 1000000000;

/// Whether an entry names a context, and another one than this.
bool IsOfAnother(const std::string& name, const yaml::YamlValue& field,
                 const ContextValues* context) {
  return context != nullptr && std::ranges::any_of(context->values, [&](const auto& value) {
           return value.first == name && space::ToString(value.second) != field.Text();
         });
}

/// Configurations to try first, as maps of values.
void ReadKnown(const yaml::YamlValue& known, const ContextValues* context, Scenario& scenario) {
  for (const yaml::YamlValue& item : known.Items()) {
    std::map<std::string, space::Value> values;
    const bool is_elsewhere = std::ranges::any_of(item.Entries(), [&](const auto& entry) {
      return IsOfAnother(entry.first, entry.second, context);
    });
    if (is_elsewhere) continue;
    for (const auto& [name, field] : item.Entries()) values[name] = ReadValue(field);
    const Result<space::Configuration> configuration = scenario.space->Parse(values);
    if (!configuration) item.Fail(configuration.error().message);
    if (!scenario.space->Contains(*configuration)) {
      item.Fail("the configuration breaks a constraint");
    }
    scenario.known.push_back(*configuration);
  }
}

void ReadObjective(const yaml::YamlValue& top, Scenario& scenario) {
  std::vector<Objective> all;
  const auto add = [&](const yaml::YamlValue& name, bool maximize) {
    Objective added = {name.Name(), maximize};
    if (std::ranges::find(all, added.name, &Objective::name) != all.end()) {
      name.Fail(fmt::format("'{}' is an objective already", base::SingleLine(added.name)));
    }
    all.push_back(std::move(added));
  };
  for (const bool maximize : {false, true}) {
    const auto named = top.Find(maximize ? "maximize" : "minimize");
    if (!named) continue;
    if (!named->IsList()) {
      add(*named, maximize);
      continue;
    }
    if (named->Items().empty()) named->Fail("expected at least one objective");
    for (const yaml::YamlValue& name : named->Items()) add(name, maximize);
  }
  if (all.empty()) return;
  scenario.optimizer_options.objectives.clear();
  for (const Objective& each : all) scenario.optimizer_options.objectives.push_back(each.name);
  scenario.evaluator.answer.fields = scenario.optimizer_options.objectives;
  scenario.objectives = std::move(all);
}

/// Of several objectives, what is of no interest beyond.
void ReadThresholds(const yaml::YamlValue& field, Scenario& scenario) {
  const std::vector<Objective>& objectives = scenario.objectives;
  if (objectives.size() < 2) field.Fail("thresholds are for several objectives");
  auto& thresholds = scenario.optimizer_options.thresholds;
  thresholds.resize(objectives.size());
  for (const auto& [name, threshold] : field.Entries()) {
    const auto found = std::ranges::find(objectives, name, &Objective::name);
    if (found == objectives.end()) {
      threshold.Fail(fmt::format("'{}' is no objective", base::SingleLine(name)));
    }
    const double value = threshold.Real();
    thresholds[static_cast<size_t>(found - objectives.begin())] = found->maximize ? -value : value;
  }
}

/// "2 %", "0.5%".
double ReadShare(const yaml::YamlValue& field) {
  std::string text = field.Text();
  if (!text.empty() && text.back() == '%') text.pop_back();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() || !(percent >= 0) ||
      percent >= 100 || field.Text().back() != '%') {
    field.Fail("expected a share such as 1 %, from 0 to below 100 %");
  }
  return percent / 100;
}

void ReadStopRules(const yaml::YamlValue& budget, Scenario& scenario) {
  StopRules& stop = scenario.stop;
  if (const auto target = budget.Find("target")) {
    if (target->IsList()) {
      for (const yaml::YamlValue& value : target->Items()) stop.target.push_back(value.Real());
    } else {
      stop.target = {target->Real()};
    }
    const size_t expected = scenario.objectives.size();
    if (stop.target.size() != expected) {
      target->Fail(fmt::format("expected {} value{}, one for each objective", expected,
                               expected == 1 ? "" : "s"));
    }
  }
  if (const auto plateau = budget.Find("plateau")) {
    if (!plateau->IsMap()) {
      stop.plateau_trials = plateau->IntWithin(1, kMaxTrials);
      return;
    }
    plateau->AllowOnly({"trials", "gain"});
    stop.plateau_trials = plateau->At("trials").IntWithin(1, kMaxTrials);
    if (const auto gain = plateau->Find("gain")) stop.plateau_gain = ReadShare(*gain);
  }
}

void ReadBudget(const yaml::YamlValue& budget, Scenario& scenario) {
  budget.AllowOnly({"trials", "time", "target", "plateau"});
  if (const auto trials = budget.Find("trials")) {
    scenario.max_trials = trials->IntWithin(1, kMaxTrials);
  }
  if (const auto time = budget.Find("time")) scenario.max_seconds = time->Duration();
  ReadStopRules(budget, scenario);
}

acquisition::AcquisitionKind ReadAcquisition(const yaml::YamlValue& field) {
  const std::string name = field.Text();
  if (name == "expected-improvement") return acquisition::AcquisitionKind::kExpectedImprovement;
  if (name == "probability-of-improvement")
    return acquisition::AcquisitionKind::kProbabilityOfImprovement;
  if (name == "confidence-bound") return acquisition::AcquisitionKind::kConfidenceBound;
  field.Fail(fmt::format(
      "expected expected-improvement, probability-of-improvement or confidence-bound, found '{}'",
      base::SingleLine(name)));
}

model::ObjectiveScale ReadObjectiveScale(const yaml::YamlValue& field) {
  const std::string name = field.Text();
  if (name == "auto") return model::ObjectiveScale::kAuto;
  if (name == "linear") return model::ObjectiveScale::kLinear;
  if (name == "log") return model::ObjectiveScale::kLog;
  field.Fail(fmt::format("expected auto, linear or log, found '{}'", base::SingleLine(name)));
}

void ReadOptimizer(const yaml::YamlValue& field, Scenario& scenario) {
  yaml::YamlValue name = field;
  optimizer::OptimizerOptions& options = scenario.optimizer_options;
  optimizer::BayesianOptions& bayesian = options.bayesian;
  if (field.IsMap()) {
    field.AllowOnly({"name", "initial_samples", "acquisition", "alternate_with_forest",
                     "objective_scale", "learn_feasibility", "feasibility_threshold",
                     "prior_weight"});
    name = field.At("name");
    if (const auto samples = field.Find("initial_samples")) {
      options.initial_samples = static_cast<int>(samples->IntWithin(1, 1000000));
    }
    if (const auto kind = field.Find("acquisition")) bayesian.acquisition = ReadAcquisition(*kind);
    if (const auto alternate = field.Find("alternate_with_forest")) {
      bayesian.alternate_with_forest = alternate->Bool();
    }
    if (const auto scale = field.Find("objective_scale")) {
      bayesian.objective = ReadObjectiveScale(*scale);
    }
    if (const auto learn = field.Find("learn_feasibility")) {
      bayesian.learn_feasibility = learn->Bool();
    }
    if (const auto threshold = field.Find("feasibility_threshold")) {
      bayesian.feasibility_threshold = threshold->Real();
      if (bayesian.feasibility_threshold < 0 || bayesian.feasibility_threshold > 1) {
        threshold->Fail("expected a probability, from 0 to 1");
      }
    }
    if (const auto weight = field.Find("prior_weight")) {
      bayesian.prior_weight = weight->Real();
      if (bayesian.prior_weight < 0) weight->Fail("expected a number that is not negative");
    }
  }
  scenario.optimizer = name.Text();
  const Status known = optimizer::Optimizers().Check(scenario.optimizer);
  if (!known) name.Fail(known.error().message);
}

/// What all spaces of a scenario have.
void ReadParameters(const yaml::YamlValue& top, SpaceReader& space) {
  for (const auto& [name, field] : top.At("parameters").Entries()) {
    if (name == "work" || name == "here") {
      field.Fail(
          fmt::format("'{{{}}}' is a folder in commands; give the parameter another name", name));
    }
    space.Add(ReadParameter(name, field), field);
    if (field.IsList()) continue;
    if (const auto condition = field.Find("active_if")) space.AddCondition(name, *condition);
  }
  if (const auto constraints = top.Find("constraints")) {
    for (const yaml::YamlValue& constraint : constraints->Items()) {
      space.AddConstraint(constraint.Text(), constraint);
    }
  }
}

/// Adds the fidelity to the parameters, as the last one. Constraints cannot speak of it.
void ReadFidelity(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario) {
  const yaml::YamlValue fidelity = top.At("fidelity");
  fidelity.AllowOnly({"parameter", "values"});
  const yaml::YamlValue field = fidelity.At("values");
  std::vector<double> values;
  for (const yaml::YamlValue& value : field.Items()) {
    values.push_back(value.Real());
    const bool ascends = values.size() < 2 || values[values.size() - 2] < values.back();
    if (!ascends)
      value.Fail("expected ascending numbers, the last of which is the one that counts");
  }
  if (values.size() < 2) field.Fail("expected at least two fidelities");
  SpaceReader without = space.Another();
  ReadParameters(top, without);
  scenario.optimizer_options.fidelity = {without.Finish(top.At("parameters"))};
  const space::Scale scale = values.front() > 0 ? space::Scale::kLog : space::Scale::kLinear;
  const space::Value last = values.back();
  std::unique_ptr<space::Parameter> parameter = yaml::WithPlace(fidelity, [&] {
    return space::MakeOrdinal(fidelity.At("parameter").Name(), std::move(values), scale);
  });
  if (const Status set = parameter->SetDefault(last); !set) field.Fail(set.error().message);
  space.Add(std::move(parameter), fidelity);
}

/// What a kernel's declarations may name is a size as well.
void AddToSizes(const ContextValues& context, Scenario& scenario) {
  if (scenario.evaluator.kind != EvaluatorKind::kKernel) return;
  auto kernel = std::make_shared<KernelDefinition>(*scenario.evaluator.kernel);
  for (auto& size : kernel->sizes) {
    for (const auto& [name, value] : context.values) {
      if (!std::holds_alternative<std::string>(value)) size[name] = value;
    }
  }
  scenario.evaluator.kernel = std::move(kernel);
}

/// Reads all but the contexts: of one of them, or of all together.
void ReadIn(const ContextValues* context, const yaml::YamlValue& top, SpaceReader& space,
            Scenario& scenario) {
  const auto contexts = top.Find("contexts");
  ReadParameters(top, space);
  if (contexts) AddContexts(*contexts, context, space);
  if (top.Find("fidelity")) ReadFidelity(top, space, scenario);
  scenario.space = space.Finish(top.At("parameters"));
  if (const auto known = top.Find("known")) ReadKnown(*known, context, scenario);
  ReadObjective(top, scenario);
  if (const auto thresholds = top.Find("thresholds")) ReadThresholds(*thresholds, scenario);
  if (const auto evaluator = top.Find("evaluator")) ReadEvaluator(*evaluator, scenario);
  if (const auto budget = top.Find("budget")) ReadBudget(*budget, scenario);
  if (const auto optimizer = top.Find("optimizer")) ReadOptimizer(*optimizer, scenario);
  if (const auto task = top.Find("task")) {
    for (const auto& [name, number] : task->Entries()) scenario.task[name] = number.Real();
  }
  if (const auto seed = top.Find("seed")) {
    scenario.optimizer_options.seed =
        static_cast<uint64_t>(seed->IntWithin(0, std::numeric_limits<int64_t>::max()));
  }
  if (context != nullptr) AddToSizes(*context, scenario);
}

/// What is known of the context, which is one of `joint`, if that is not null.
void ReadContext(const ContextValues& context, const yaml::YamlValue& top, SpaceReader space,
                 std::shared_ptr<const space::Space> joint, Scenario& scenario) {
  scenario.name += " " + context.Text();
  ReadIn(&context, top, space, scenario);
  scenario.max_trials.reset();  // the budget is that of all
  scenario.max_seconds.reset();
  scenario.default_configuration = scenario.space->Default();
  for (const auto& [name, value] : context.values) {
    double number = 0;
    if (space::ParseNumber(space::ToString(value), number)) scenario.task[name] = number;
  }
  if (joint == nullptr) return;
  optimizer::ContextOptions& options = scenario.optimizer_options.context.emplace();
  for (const auto& [name, value] : context.values) {
    options.places.push_back(joint->IndexOf(name));
    options.coordinates.push_back(*joint->parameter(options.places.back()).CoordinateOf(value));
  }
  options.joint = std::move(joint);
}

}  // namespace

void ReadOwnScenario(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario,
                     const std::string& context) {
  top.AllowOnly({"name", "parameters", "constraints", "minimize", "maximize", "evaluator", "budget",
                 "optimizer", "seed", "task", "known", "fidelity", "thresholds", "contexts"});
  if (const auto name = top.Find("name")) scenario.name = name->Name();
  const auto contexts = top.Find("contexts");
  if (!contexts) return ReadIn(nullptr, top, space, scenario);
  if (const auto fidelity = top.Find("fidelity")) {
    fidelity->Fail("a scenario with contexts has no fidelities");
  }
  Scenario beginning;
  beginning.name = scenario.name;
  beginning.text = scenario.text;
  beginning.evaluator.here = scenario.evaluator.here;
  const std::vector<ContextValues> all = ReadContexts(*contexts);
  for (const ContextValues& values : all) {
    if (beginning.name + " " + values.Text() != context) continue;
    return ReadContext(values, top, space.Another(), nullptr, scenario);
  }
  ReadIn(nullptr, top, space, scenario);
  for (const ContextValues& values : all) {
    ReadContext(values, top, space.Another(), scenario.space,
                scenario.contexts.emplace_back(beginning));
  }
}

}  // namespace bayloom::search

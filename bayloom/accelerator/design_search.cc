// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "bayloom/accelerator/design_trials.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/pareto/front.h"

namespace bayloom::accelerator {
namespace {

/// Designs that the sensitivity is learnt from: its process takes time with the cube.
constexpr size_t kMaxSensitivityDesigns = 400;
/// Designs of a search that nothing else ends.
constexpr int64_t kDesigns = 100;

/// What a search is about beside its space, in lines of comments: a search with other lines is
/// another.
std::string Circumstances(const std::vector<DesignNetwork>& networks,
                          const mapspace::Technology& technology,
                          const DesignEvaluatorOptions& options) {
  std::string text;
  for (const DesignNetwork& network : networks) {
    base::Hasher hasher;
    for (const NetworkLayer& layer : network.layers) {
      hasher.Add(layer.problem.Describe()).Add(static_cast<uint64_t>(layer.count));
    }
    text += fmt::format("# network: {}, {} distinct layers, {:016x}\n",
                        base::SingleLine(network.name), network.layers.size(), hasher.Digest());
  }
  return text + fmt::format(
                    "# technology: {}, {:016x}; limits: {} mm2, {} pJ, {} cycles; {} evaluations a "
                    "layer\n",
                    technology.name,
                    base::Hasher().Add(mapspace::PrintTechnology(technology)).Digest(),
                    options.limits.area_mm2, options.limits.energy_pj, options.limits.cycles,
                    options.evaluations);
}

/// The search as a scenario; it refers to the design space, which must outlive it.
search::Scenario MakeScenario(const DesignSpace& design, const std::vector<DesignNetwork>& networks,
                              const mapspace::Technology& technology,
                              const DesignOptions& options) {
  std::vector<std::string_view> objectives;
  for (const DesignObjective objective : options.evaluation.objectives) {
    objectives.push_back(ToString(objective));
  }
  const std::string minimized = fmt::format("{}", fmt::join(objectives, ", "));
  search::Scenario scenario =
      search::ParseScenario(fmt::format("{}minimize: {}\n{}", design.scenario().text,
                                        objectives.size() == 1 ? minimized : "[" + minimized + "]",
                                        Circumstances(networks, technology, options.evaluation)),
                            design.path());
  std::string names;
  for (const DesignNetwork& network : networks) {
    names += (names.empty() ? " for " : " + ") + base::SingleLine(network.name);
  }
  scenario.name += names;
  if (std::isfinite(options.evaluation.limits.area_mm2)) {
    scenario.optimizer_options.excludes =
        [&design, technology,
         limit = options.evaluation.limits.area_mm2](const space::Configuration& configuration) {
          try {
            return AreaOf(design.ArchitectureOf(configuration, technology), technology) > limit;
          } catch (const InputError&) {
            return false;  // what is no architecture is a failed trial
          }
        };
  }
  if (!options.optimizer.empty()) scenario.optimizer = options.optimizer;
  scenario.optimizer_options.seed = options.run.seed;
  return scenario;
}

mapspace::Technology TechnologyOf(const DesignSpace& design, const DesignOptions& options) {
  if (!options.technology.empty()) return mapspace::LoadTechnology(options.technology);
  return mapspace::LoadTechnology(design.technology().empty() ? "45nm" : design.technology());
}

}  // namespace

DesignSearch::DesignSearch(DesignSpace design, std::vector<DesignNetwork> networks,
                           DesignOptions options)
    : design_(std::make_shared<const DesignSpace>(std::move(design))),
      options_(std::move(options)) {
  mapspace::Technology technology = TechnologyOf(*design_, options_);
  options_.run = run::WithDefaults(std::move(options_.run), {.budget = {.trials = kDesigns}});
  options_.evaluation.seed = options_.run.seed;
  scenario_ = MakeScenario(*design_, networks, technology, options_);
  evaluator_ = std::make_shared<DesignEvaluator>(std::move(networks), std::move(technology),
                                                 options_.evaluation);
  store_ = std::make_unique<record::Store>(options_.database);
  study_ = std::make_unique<search::DurableStudy>(scenario_, *store_, options_.resume);
  if (study_->resumed() && study_->record().definition != scenario_.text) {
    throw InputError(fmt::format(
        "cannot resume search {} of {}: its space, networks, technology, limits or evaluations a "
        "layer were others; begin a new one instead of resuming it",
        study_->record().id, options_.database));
  }
  trials_ = options_.make_trials ? options_.make_trials(*design_, *evaluator_)
                                 : MakeDesignTrials(design_, evaluator_, options_.jobs);
  task_ = std::make_unique<search::StudyTask>(study_->study(), *trials_);
  run_ = std::make_unique<run::ScheduledRun<space::Configuration>>(options_.run);
  scheduling::TaskProgress progress;
  progress.name = scenario_.name;
  run_->AddTask(*task_, std::move(progress));
  for (const search::StudyTrial& trial : study_->earlier()) {
    run_->Restore(0, task_->ValueOf(trial.configuration, trial.outcome), trial.elapsed);
  }
  if (!study_->earlier().empty()) run_->RestoreSlotEnd(0);
}

DesignSearch::~DesignSearch() = default;

trial::StopReason DesignSearch::Run(const run::RunObserver& observer) {
  const trial::StopReason end = run_->Run(observer);
  study_->End(end);
  return end;
}

std::optional<trial::Outcome> DesignSearch::Compare(const std::string& architecture) {
  DesignEvaluatorOptions options = options_.evaluation;
  options.limits = {};
  DesignEvaluator evaluator(networks(), technology(), options);
  return evaluator.Evaluate(mapspace::LoadArchitecture(architecture, &technology()),
                            options_.run.budget.stop);
}

mapspace::Architecture DesignSearch::ArchitectureOf(const search::StudyTrial& trial) const {
  return design_->ArchitectureOf(trial.configuration, evaluator_->technology());
}

std::vector<search::StudyTrial> DesignSearch::Trials() const {
  return search::ReadStudyTrials(*scenario_.space, *store_, record().id);
}

std::vector<search::StudyTrial> DesignSearch::Within() const {
  std::vector<search::StudyTrial> trials = Trials();
  std::erase_if(trials, [](const search::StudyTrial& trial) { return !trial.outcome.ok(); });
  return trials;
}

std::vector<search::StudyTrial> DesignSearch::BestDesigns(int count) const {
  std::vector<search::StudyTrial> trials = Within();
  std::ranges::stable_sort(trials, {},
                           [](const search::StudyTrial& trial) { return trial.outcome.value; });
  if (std::ssize(trials) > count) trials.erase(trials.begin() + count, trials.end());
  return trials;
}

std::vector<search::StudyTrial> DesignSearch::Front() const {
  if (study().objectives().size() > 1) return study().front();
  const std::vector<search::StudyTrial> trials = Within();
  std::vector<pareto::Point> costs;
  for (const search::StudyTrial& trial : trials) {
    pareto::Point& cost = costs.emplace_back();
    for (const char* name : {"area_mm2", "energy_pj", "cycles"}) {
      cost.push_back(trial.outcome.Get(name, INFINITY));
    }
  }
  std::vector<search::StudyTrial> front;
  for (int i : pareto::FrontOf(costs)) front.push_back(trials[i]);
  std::ranges::stable_sort(
      front, {}, [](const search::StudyTrial& trial) { return trial.outcome.Get("area_mm2", 0); });
  return front;
}

std::vector<optimizer::ParameterSensitivity> DesignSearch::Sensitivity() const {
  const std::vector<search::StudyTrial> trials = Within();
  if (std::ssize(trials) < kMinDesigns) return {};
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  const size_t first =
      trials.size() > kMaxSensitivityDesigns ? trials.size() - kMaxSensitivityDesigns : 0;
  for (size_t i = first; i < trials.size(); ++i) {
    configurations.push_back(trials[i].configuration);
    values.push_back(std::log(trials[i].outcome.value));
  }
  base::RandomStream random(options_.run.seed);
  return optimizer::RankParameters(scenario_.space, configurations, values, random);
}

}  // namespace bayloom::accelerator

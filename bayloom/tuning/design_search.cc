// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/design_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/pareto/front.h"

namespace bayloom::tuning {
namespace {

/// Designs that the sensitivity is learnt from: its process takes time with the cube.
constexpr size_t kMaxSensitivityDesigns = 400;

/// Of everything that a technology says.
uint64_t DigestOf(const mapspace::Technology& technology) {
  base::Hasher hasher;
  hasher.Add(technology.name);
  const auto add = [&](std::initializer_list<double> numbers) {
    for (const double number : numbers) hasher.Add(std::bit_cast<uint64_t>(number));
  };
  for (const auto* units : {&technology.multiplier, &technology.adder}) {
    for (const auto& unit : *units) add({unit.bits, unit.energy_pj, unit.area_um2});
  }
  const mapspace::Technology::Sram& sram = technology.sram;
  for (const auto& access : sram.access) add({access.bytes, access.energy_pj});
  add({sram.access_bits, sram.cell_area_um2, sram.bank_bytes, sram.bank_efficiency,
       technology.register_energy_pj, technology.register_area_um2,
       technology.dram_energy_per_bit_pj});
  return hasher.Digest();
}

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
                        base::InOneLine(network.name), network.layers.size(), hasher.Digest());
  }
  return text + fmt::format(
                    "# technology: {}, {:016x}; limits: {} mm2, {} pJ, {} cycles; {} evaluations a "
                    "layer\n",
                    technology.name, DigestOf(technology), options.limits.area_mm2,
                    options.limits.energy_pj, options.limits.cycles, options.evaluations);
}

external::Scenario MakeScenario(const DesignSpace& design,
                                const std::vector<DesignNetwork>& networks,
                                const mapspace::Technology& technology,
                                const DesignOptions& options) {
  external::Scenario scenario = design.scenario();
  std::string names;
  for (const DesignNetwork& network : networks) {
    names += (names.empty() ? " for " : " + ") + base::InOneLine(network.name);
  }
  scenario.name += names;
  scenario.objective = mapspace::ToString(options.evaluation.objective);
  scenario.text += fmt::format("minimize: {}\n{}", scenario.objective,
                               Circumstances(networks, technology, options.evaluation));
  if (!options.optimizer.empty()) scenario.optimizer = options.optimizer;
  scenario.optimizer_options.seed = options.evaluation.seed;
  return scenario;
}

mapspace::Technology TechnologyOf(const DesignSpace& design, const DesignOptions& options) {
  if (!options.technology.empty()) return mapspace::LoadTechnology(options.technology);
  return mapspace::LoadTechnology(design.technology().empty() ? "45nm" : design.technology());
}

}  // namespace

/// Evaluates designs in the run's own thread.
class DesignSearch::Trier final : public trial::Evaluator<space::Configuration> {
 public:
  Trier(const DesignSpace& design, DesignEvaluator& evaluator)
      : design_(design), evaluator_(evaluator) {}

  int Capacity() const override { return 1; }
  void Submit(trial::TrialId id, const space::Configuration& candidate) override {
    waiting_.emplace_back(id, &candidate);
  }
  void Cancel() override { waiting_.clear(); }

  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>& stop) override {
    if (waiting_.empty()) return {};
    const auto [id, candidate] = waiting_.front();
    std::optional<trial::Outcome> outcome = Try(*candidate, stop);
    if (!outcome) return {};  // stopped: the design stays in flight and is not counted
    waiting_.pop_front();
    return {{id, std::move(outcome), {}}};
  }

 private:
  std::optional<trial::Outcome> Try(const space::Configuration& candidate,
                                    const std::function<bool()>& stop) {
    try {
      return evaluator_.Evaluate(design_.ArchitectureOf(candidate, evaluator_.technology()), stop);
    } catch (const InputError& error) {
      return trial::Outcome::Infeasible(trial::Verdict::kBuildError,
                                        base::MessageInOneLine(error.what()));
    }
  }

  const DesignSpace& design_;
  DesignEvaluator& evaluator_;
  std::deque<std::pair<trial::TrialId, const space::Configuration*>> waiting_;
};

DesignSearch::DesignSearch(DesignSpace design, std::vector<DesignNetwork> networks,
                           DesignOptions options)
    : design_(std::move(design)), options_(std::move(options)) {
  mapspace::Technology technology = TechnologyOf(design_, options_);
  scenario_ = MakeScenario(design_, networks, technology, options_);
  evaluator_ = std::make_unique<DesignEvaluator>(std::move(networks), std::move(technology),
                                                 options_.evaluation);
  store_ = std::make_unique<record::Store>(options_.database);
  study_ = std::make_unique<DurableStudy>(scenario_, *store_, options_.resume);
  if (study_->resumed() && study_->record().definition != scenario_.text) {
    throw InputError(fmt::format(
        "cannot resume search {} of {}: its space, networks, technology, limits or evaluations a "
        "layer were others; begin a new one without --resume",
        study_->record().id, options_.database));
  }
  trier_ = std::make_unique<Trier>(design_, *evaluator_);
  task_ = std::make_unique<external::StudyTask>(study_->study(), *trier_);
  run::RunOptions run;
  run.budget = options_.budget;
  run.seed = options_.evaluation.seed;
  run_ = std::make_unique<run::ScheduledRun<space::Configuration>>(std::move(run));
  scheduling::TaskProgress progress;
  progress.name = scenario_.name;
  run_->AddTask(*task_, std::move(progress));
  for (const external::StudyTrial& trial : study_->earlier()) {
    run_->Restore(0, task_->ValueOf(trial.configuration, trial.outcome), trial.elapsed);
  }
  if (!study_->earlier().empty()) run_->RestoreSlotEnd(0);
}

DesignSearch::~DesignSearch() = default;

trial::StopReason DesignSearch::Run(const run::RunObserver& observer) {
  const trial::StopReason end = run_->Run(observer);
  const bool can_go_on = end == trial::StopReason::kStopped || end == trial::StopReason::kLost ||
                         end == trial::StopReason::kGaveUp;
  if (!can_go_on) study_->Finish();
  return end;
}

std::optional<trial::Outcome> DesignSearch::Compare(const std::string& architecture) {
  DesignEvaluatorOptions options = options_.evaluation;
  options.limits = {};
  DesignEvaluator evaluator(networks(), technology(), options);
  return evaluator.Evaluate(mapspace::LoadArchitecture(architecture, &technology()),
                            options_.budget.stop);
}

mapspace::Architecture DesignSearch::ArchitectureOf(const external::StudyTrial& trial) const {
  return design_.ArchitectureOf(trial.configuration, evaluator_->technology());
}

std::vector<external::StudyTrial> DesignSearch::Trials() const {
  return ReadStudyTrials(*scenario_.space, *store_, record().id);
}

std::vector<external::StudyTrial> DesignSearch::Within() const {
  std::vector<external::StudyTrial> trials = Trials();
  std::erase_if(trials, [](const external::StudyTrial& trial) { return !trial.outcome.ok(); });
  return trials;
}

std::vector<external::StudyTrial> DesignSearch::BestDesigns(int count) const {
  std::vector<external::StudyTrial> trials = Within();
  std::ranges::stable_sort(trials, {},
                           [](const external::StudyTrial& trial) { return trial.outcome.value; });
  if (std::ssize(trials) > count) trials.erase(trials.begin() + count, trials.end());
  return trials;
}

std::vector<external::StudyTrial> DesignSearch::Front() const {
  const std::vector<external::StudyTrial> trials = Within();
  std::vector<pareto::Point> costs;
  for (const external::StudyTrial& trial : trials) {
    pareto::Point& cost = costs.emplace_back();
    for (const char* name : {"area_mm2", "energy_pj", "cycles"}) {
      cost.push_back(trial.outcome.Get(name, INFINITY));
    }
  }
  std::vector<external::StudyTrial> front;
  for (int i : pareto::FrontOf(costs)) front.push_back(trials[i]);
  std::ranges::stable_sort(front, {}, [](const external::StudyTrial& trial) {
    return trial.outcome.Get("area_mm2", 0);
  });
  return front;
}

std::vector<optimizer::ParameterSensitivity> DesignSearch::Sensitivity() const {
  const std::vector<external::StudyTrial> trials = Within();
  if (std::ssize(trials) < kLeastDesigns) return {};
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  const size_t first =
      trials.size() > kMaxSensitivityDesigns ? trials.size() - kMaxSensitivityDesigns : 0;
  for (size_t i = first; i < trials.size(); ++i) {
    configurations.push_back(trials[i].configuration);
    values.push_back(std::log(trials[i].outcome.value));
  }
  base::RandomStream random(options_.evaluation.seed);
  return optimizer::RankParameters(scenario_.space, configurations, values, random);
}

}  // namespace bayloom::tuning

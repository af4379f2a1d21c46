// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/network_mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "bayloom/accelerator/earlier_mappings.h"
#include "bayloom/accelerator/run_journal.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/adapt_mapping.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/search/durable_study.h"

namespace bayloom::accelerator {
namespace {

/// Turns in which a layer would have its equal share.
constexpr int64_t kTurns = 20;
constexpr int64_t kModelEvaluations = 20'000;
constexpr int64_t kSimulatorEvaluations = 100;
/// The model takes microseconds: its evaluations are written together.
constexpr double kModelHoldSeconds = 0.2;

/// How unlike the sizes of two layers are: octaves, in all dimensions together.
double Distance(const NetworkMapping::Layer& layer, const NetworkMapping::Layer& other) {
  const mapspace::Architecture& architecture = layer.mapspace->architecture();
  const std::vector<double> a =
      mapspace::DescribeTask(layer.layer.problem, architecture, *layer.mapspace);
  const std::vector<double> b =
      mapspace::DescribeTask(other.layer.problem, architecture, *layer.mapspace);
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus(),
                               [](double x, double y) { return std::abs(x - y); });
}

/// What one unit of a layer's value counts for in the network's.
double WeightOf(const NetworkLayer& layer, mapspace::MapObjective objective) {
  const bool per_mac = objective == mapspace::MapObjective::kEnergy;
  return layer.count * (per_mac ? static_cast<double>(layer.problem.Macs()) : 1.0);
}

/// The names of all dimensions of the layers.
std::vector<std::string> DimensionsOf(std::span<const NetworkLayer> layers) {
  std::set<std::string> names;
  for (const NetworkLayer& layer : layers) {
    names.insert(layer.problem.dimensions.begin(), layer.problem.dimensions.end());
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::string MapOptions::MapperName() const {
  if (!mapper.empty()) return mapper;
  const bool learns = !learn_from.IsOff() || rehearsal > 0 || search.top_k > 0;
  const bool has_one_objective = search.objectives.size() == 1;
  return evaluator == "model" && !learns && has_one_objective ? "genetic" : "bayesian";
}

std::string MapOptions::ObjectiveNames() const {
  std::vector<std::string_view> names;
  for (const mapspace::MapObjective each : search.objectives) {
    names.push_back(mapspace::ToString(each));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

int64_t DefaultEvaluations(const std::string& mapper) {
  return mapper == "bayesian" ? kSimulatorEvaluations : kModelEvaluations;
}

void CheckObjectives(const MapOptions& options) {
  if (options.evaluator != "model" && options.search.objectives.size() > 1) {
    throw InputError("several objectives need the built-in model: a simulator answers one value");
  }
}

std::unique_ptr<trial::Evaluator<mapspace::Mapping>> MakeMappingEvaluator(
    const mapspace::AnalyticalModel& model, const MapOptions& options) {
  CheckObjectives(options);
  if (options.evaluator == "model") {
    return mapspace::MakeModelEvaluator(model, options.search.objectives);
  }
  mapspace::SimulatorOptions simulator = options.simulator;
  const int64_t trials = std::max<int64_t>(1, options.search.run.budget.trials);
  simulator.jobs = static_cast<int>(std::min<int64_t>(simulator.jobs, trials));
  if (options.evaluator == "timeloop") {
    return mapspace::MakeTimeloopEvaluator(model.problem(), model.architecture(),
                                           options.search.objectives[0], simulator);
  }
  simulator.command = options.evaluator;
  return mapspace::MakeSimulatorEvaluator(model.problem(), model.architecture(), simulator);
}

mapspace::Architecture ArchitectureFor(mapspace::MappingKind mappings,
                                       const mapspace::Problem& problem,
                                       const mapspace::Architecture& architecture,
                                       std::span<const mapspace::Directive> constraints) {
  if (mappings == mapspace::MappingKind::kEven) return architecture;
  return mapspace::SplitMemories(architecture, problem, constraints);
}

NetworkMapping::NetworkMapping(std::vector<NetworkLayer> layers,
                               const mapspace::Architecture& architecture,
                               std::span<const mapspace::Directive> constraints, MapOptions options)
    : options_(std::move(options)),
      architecture_(architecture),
      constraints_(constraints.begin(), constraints.end()) {
  if (layers.empty()) throw InputError("the network has no convolution or matrix product");
  if (layers.size() > 1 && options_.search.objectives.size() > 1) {
    throw InputError("several objectives are for one operation, not for a network");
  }
  options_.mapper = options_.MapperName();
  trial::Budget& budget = options_.search.run.budget;
  if (budget.trials == trial::Budget::kUnlimited) {
    budget.trials = DefaultEvaluations(options_.mapper) * std::ssize(layers);
  }
  if (!options_.database.empty()) store_ = std::make_unique<record::Store>(options_.database);
  run::RunOptions run = options_.search.run;
  const int64_t share = budget.trials / std::ssize(layers);
  if (layers.size() > 1) run.trials_per_slot = std::max<int64_t>(1, share / kTurns);
  run_ = std::make_unique<run::ScheduledRun<mapspace::Mapping>>(std::move(run));
  const bool is_only = layers.size() == 1;
  layers_.reserve(layers.size());
  const std::vector<std::string> dimensions = DimensionsOf(layers);
  for (NetworkLayer& layer : layers) {
    mapspace::Architecture own = architecture;
    own.constraints = mapspace::DirectivesFor(layer.problem, architecture.constraints, dimensions);
    const std::vector<mapspace::Directive> rules =
        mapspace::DirectivesFor(layer.problem, constraints, dimensions);
    own = ArchitectureFor(options_.mappings, layer.problem, own, rules);
    AddLayer(std::move(layer), own, rules, is_only);
  }
  for (Layer& layer : layers_) {
    layer.offered.assign(layers_.size(), 0);
    for (const Layer& other : layers_) layer.distance.push_back(Distance(layer, other));
  }
}

NetworkMapping::~NetworkMapping() = default;

void NetworkMapping::AddLayer(NetworkLayer layer, const mapspace::Architecture& architecture,
                              std::span<const mapspace::Directive> constraints, bool is_only) {
  const size_t index = layers_.size();
  Layer& added = layers_.emplace_back();
  added.mapspace = std::make_unique<mapspace::Mapspace>(layer.problem, architecture, constraints);
  added.model =
      std::make_unique<mapspace::AnalyticalModel>(layer.problem, architecture, options_.counting);
  added.evaluator = options_.make_evaluator ? options_.make_evaluator(*added.model, options_)
                                            : MakeMappingEvaluator(*added.model, options_);
  added.layer = std::move(layer);
  mapspace::MapperOptions search = options_.search;
  if (!is_only) {
    search.run.seed = base::Hasher().Add(search.run.seed).Add(static_cast<int>(index)).Digest();
    search.run.budget.seconds = std::numeric_limits<double>::infinity();  // not its own
  }
  search.earlier = Earlier(*added.mapspace, *added.model);
  std::vector<record::StoredTrial> trials;
  if (store_) trials = OpenRecord(added, search.run.seed);
  search.run.seed = search::SeedAfter(search.run.seed, trials.size());
  search.evaluate_once = options_.evaluator != "model" || !trials.empty();
  added.search = std::make_unique<mapspace::MapperTask>(
      options_.mapper, *added.mapspace, *added.model, *added.evaluator, search, added.trials.get());
  if (!is_only) added.search->SetOnBegin([this, index] { Exchange(index); });
  scheduling::TaskProgress progress;
  progress.name = added.layer.name;
  progress.weight = WeightOf(added.layer, options_.search.objectives[0]);
  progress.work = static_cast<double>(added.layer.problem.Macs());
  run_->AddTask(*added.search, std::move(progress));
  Restore(added, trials);
}

std::vector<mapspace::EarlierMappings> NetworkMapping::Earlier(
    const mapspace::Mapspace& mapspace, const mapspace::AnalyticalModel& model) const {
  const mapspace::MapObjective objective = options_.search.objectives[0];
  std::vector<mapspace::EarlierMappings> all;
  for (const std::string& path : options_.learn_from.FilesWith(options_.database)) {
    record::Store store(path, record::Store::Mode::kReadOnly);
    for (mapspace::EarlierMappings& search :
         ReadEarlierMappings(store, std::string(mapspace::ToString(objective)))) {
      const bool is_same = search.problem == model.problem() &&
                           mapspace::PrintArchitectureYaml(search.architecture) ==
                               mapspace::PrintArchitectureYaml(model.architecture());
      if (!is_same) all.push_back(std::move(search));
    }
  }
  if (!options_.learn_from.files.empty() && all.empty()) {
    throw OptionError(
        "learn-from",
        "there is no earlier search for the same objective of another problem or architecture");
  }
  if (options_.rehearsal > 0) {
    all.push_back(mapspace::WarmStartFromModel(mapspace, model, objective, options_.rehearsal,
                                               options_.search.run.seed));
  }
  return all;
}

/// Finds or begins the layer's run in the store; its trials so far.
std::vector<record::StoredTrial> NetworkMapping::OpenRecord(Layer& layer, uint64_t seed) {
  const std::span<const mapspace::Directive> constraints = layer.mapspace->directives();
  const MapIdentity identity = {.problem = layer.layer.problem,
                                .architecture = layer.mapspace->architecture(),
                                .constraints = {constraints.begin(), constraints.end()},
                                .counting = options_.counting,
                                .objective = options_.ObjectiveNames(),
                                .evaluator = options_.evaluator,
                                .mapper = options_.mapper,
                                .seed = seed};
  layer.run.emplace(*store_, identity.ToRecord(),
                    options_.resume ? LastSearchOf(identity, *store_) : std::nullopt);
  const double hold = options_.evaluator == "model" ? kModelHoldSeconds : 0;
  layer.trials = layer.run->Trials({.hold_seconds = hold});
  return layer.run->Earlier();
}

void NetworkMapping::Restore(Layer& layer, const std::vector<record::StoredTrial>& trials) {
  const int index = static_cast<int>(layers_.size()) - 1;
  for (const record::StoredTrial& trial : trials) {
    Result<mapspace::Mapping> mapping =
        ParseStoredMapping(trial.candidate, layer.layer.problem, layer.mapspace->architecture());
    if (!mapping) {
      throw InputError("cannot resume: trial " + std::to_string(trial.ordinal) +
                       " is no mapping of this problem: " + mapping.error().message);
    }
    run_->Restore(index, layer.search->Tell(*std::move(mapping), trial.outcome, trial.elapsed),
                  trial.elapsed);
  }
  if (!trials.empty()) run_->RestoreSlotEnd(index);
}

trial::StopReason NetworkMapping::Run(const run::RunObserver& observer) {
  end_ = run_->Run(observer);
  for (Layer& layer : layers_) {
    if (!layer.trials) continue;
    layer.trials->Flush();
    layer.run->End(end_);
  }
  return end_;
}

std::vector<std::string> NetworkMapping::LayerRuns() const {
  std::vector<std::string> runs;
  for (const Layer& layer : layers_) {
    if (layer.run) runs.push_back(layer.run->record().uuid);
  }
  return runs;
}

void NetworkMapping::KeepResult(const std::string& name, const std::string& result) {
  if (!store_ || layers_.size() < 2) return;
  if (!whole_) {
    nlohmann::json layers = nlohmann::json::array();
    for (const Layer& layer : layers_) {
      layers.push_back({{"name", layer.layer.name},
                        {"count", layer.layer.count},
                        {"problem", layer.layer.problem.Describe()},
                        {"run", layer.run->record().uuid}});
    }
    record::RunRecord wanted;
    wanted.kind = record::RunKind::kMap;
    wanted.name = name;
    nlohmann::json definition = {{"layers", layers},
                                 {"architecture", mapspace::PrintArchitectureYaml(architecture_)},
                                 {"evaluator", options_.evaluator}};
    if (!constraints_.empty()) {
      definition["constraints"] = mapspace::PrintConstraintsYaml(constraints_);
    }
    if (options_.counting == mapspace::ReuseCounting::kTimeloop) definition["reuse"] = "timeloop";
    if (options_.mappings == mapspace::MappingKind::kUneven) definition["mappings"] = "uneven";
    wanted.definition = definition.dump();
    wanted.objective = options_.ObjectiveNames();
    wanted.proposer = options_.mapper;
    wanted.seed = options_.search.run.seed;
    whole_ = std::make_unique<RunJournal>(options_.database, wanted, options_.resume);
  }
  whole_->KeepResult(LayerRuns(), result);
  if (!result.empty()) whole_->End(end_);
}

void NetworkMapping::Exchange(size_t layer) {
  Layer& own = layers_[layer];
  int nearest = -1;
  for (int other = 0; other < std::ssize(layers_); ++other) {
    const mapspace::MapperResult& known = layers_[other].search->result();
    const bool is_own = other == static_cast<int>(layer);
    if (is_own || !known.best || known.value == own.offered[other]) continue;
    if (nearest < 0 || own.distance[other] < own.distance[nearest]) nearest = other;
  }
  if (nearest < 0) return;
  const Layer& giver = layers_[nearest];
  const mapspace::MapperResult& known = giver.search->result();
  own.offered[nearest] = known.value;
  const std::optional<mapspace::Mapping> planted =
      mapspace::AdaptMapping(*known.best, giver.layer.problem, *own.mapspace, *own.model);
  if (planted) own.search->Suggest(*planted);
}

NetworkMapping::Totals NetworkMapping::Sum() const {
  Totals totals;
  for (const Layer& layer : layers_) {
    const mapspace::MapperResult& result = layer.search->result();
    if (!result.best) continue;
    const mapspace::Evaluation evaluation = layer.model->Evaluate(*result.best);
    const double count = layer.layer.count;
    totals.energy_pj += count * evaluation.energy_pj;
    totals.cycles += count * static_cast<double>(evaluation.cycles);
    totals.macs += count * static_cast<double>(evaluation.macs);
    ++totals.mapped;
  }
  return totals;
}

}  // namespace bayloom::accelerator

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/accelerator/network_layers.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/uneven.h"
#include "bayloom/record/recorded_run.h"
#include "bayloom/record/store.h"
#include "bayloom/run/learn_from.h"

namespace bayloom::accelerator {

class RunJournal;

struct MapOptions {
  /// Empty: "genetic" with the model, "bayesian" with a simulator, or where it is to learn.
  std::string mapper;
  /// Of every layer's search; the run is that of all layers together, of which a turn is a
  /// twentieth of a layer's share. No trials given: see DefaultEvaluations.
  mapspace::MapperOptions search = {.run = {}};
  mapspace::ReuseCounting counting = mapspace::ReuseCounting::kExact;
  mapspace::MappingKind mappings = mapspace::MappingKind::kEven;
  /// "model", "timeloop" (timeloop-model) or a command, see SimulatorOptions.
  std::string evaluator = "model";
  mapspace::SimulatorOptions simulator;  ///< but for the command
  /// Path of the store that keeps every evaluation; empty: none does.
  std::string database;
  bool resume = false;  ///< go on with the store's last searches of the same layers
  /// What "bayesian" learns from: searches of other problems and architectures.
  run::LearnFrom learn_from = {};
  /// Evaluations of the model that "bayesian" learns from before it asks a simulator; 0: none.
  int64_t rehearsal = 0;
  /// Makes what evaluates a layer's mappings; empty: MakeMappingEvaluator.
  std::function<std::unique_ptr<trial::Evaluator<mapspace::Mapping>>(
      const mapspace::AnalyticalModel&, const MapOptions&)>
      make_evaluator = {};

  /// The mapper that this means.
  std::string MapperName() const;
  /// What is minimized: "energy", or several with commas between, "energy,delay".
  std::string ObjectiveNames() const;
};

/// Evaluations of one layer by default: what the model does in a second, or what a patient
/// person waits for.
int64_t DefaultEvaluations(const std::string& mapper);

/// Throws InputError where the evaluator cannot tell all objectives of a mapping.
void CheckObjectives(const MapOptions& options);

/// What says how good a mapping is, as the options have it. The model must outlive it.
std::unique_ptr<trial::Evaluator<mapspace::Mapping>> MakeMappingEvaluator(
    const mapspace::AnalyticalModel& model, const MapOptions& options);

/// The architecture whose even mappings are the mappings of the operation that are asked for.
mapspace::Architecture ArchitectureFor(mapspace::MappingKind mappings,
                                       const mapspace::Problem& problem,
                                       const mapspace::Architecture& architecture,
                                       std::span<const mapspace::Directive> constraints);

/// Maps an operation, or all layers of a network, onto an architecture: each layer is a task, to
/// whose search a scheduler gives evaluations where they promise most for the whole. Layers learn
/// from each other: at every turn a layer's search is offered the best mapping of another,
/// transplanted.
///
///     NetworkMapping run({{"", ParseProblem("matmul:512,512,512")}},
///     ShippedArchitecture("gemmini"), {},
///     {}); run.Run(); Use(run.layers()[0].search->result().best);
class NetworkMapping {
 public:
  /// Constraints hold for every layer, but for dimensions that a layer does not have and another
  /// does. Throws InputError for what cannot be searched.
  NetworkMapping(std::vector<NetworkLayer> layers, const mapspace::Architecture& architecture,
                 std::span<const mapspace::Directive> constraints, MapOptions options);
  ~NetworkMapping();

  /// Suggests a mapping of a layer's mapspace: see MapperTask::Suggest.
  void Suggest(int layer, const mapspace::Mapping& mapping) {
    layers_[layer].search->Suggest(mapping);
  }
  /// Searches until the budget is spent.
  trial::StopReason Run(const run::RunObserver& observer = {});

  /// The layers' runs in the database, by what identifies them there; none without one.
  std::vector<std::string> LayerRuns() const;
  /// Of several layers: makes them one run of this name in the database, if there is one, and keeps
  /// what is to be shown of it (see RunJournal::KeepResult); nothing before it has ended.
  void KeepResult(const std::string& name, const std::string& result);

  /// What is known of a layer.
  struct Layer {
    NetworkLayer layer;
    std::unique_ptr<mapspace::Mapspace> mapspace;
    std::unique_ptr<mapspace::AnalyticalModel> model;
    std::unique_ptr<trial::Evaluator<mapspace::Mapping>> evaluator;
    std::optional<record::RecordedRun> run;     ///< none without a store
    std::unique_ptr<record::RunTrials> trials;  ///< null without a store
    std::unique_ptr<mapspace::MapperTask> search;
    /// Of every layer: how unlike this one it is, and the value of its best mapping when that was
    /// last offered to this one's search.
    std::vector<double> distance, offered;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  const std::string& mapper() const { return options_.mapper; }
  /// The first objective where values are the model's, in its unit; empty: a simulator's.
  std::string_view unit_objective() const {
    return options_.evaluator == "model" ? mapspace::ToString(options_.search.objectives[0]) : "";
  }

  /// All layers, as often as the network has them, by the model's account of the best mappings.
  struct Totals {
    double energy_pj = 0;
    double cycles = 0;  ///< one layer after the other
    double macs = 0;
    int mapped = 0;  ///< layers with a mapping

    double EnergyDelay() const { return energy_pj * cycles; }
  };
  Totals Sum() const;
  run::RunStatus Status() const { return run_->Status(); }
  trial::StopReason end() const { return end_; }
  /// Why evaluations cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return run_->lost(); }

 private:
  void AddLayer(NetworkLayer layer, const mapspace::Architecture& architecture,
                std::span<const mapspace::Directive> constraints, bool is_only);
  std::vector<mapspace::EarlierMappings> Earlier(const mapspace::Mapspace& mapspace,
                                                 const mapspace::AnalyticalModel& model) const;
  std::vector<record::StoredTrial> OpenRecord(Layer& layer, uint64_t seed);
  void Restore(Layer& layer, const std::vector<record::StoredTrial>& trials);
  /// Offers a layer's search the best mapping of the layer most like it of those whose best it has
  /// not been offered yet.
  void Exchange(size_t layer);

  MapOptions options_;
  mapspace::Architecture architecture_;  ///< as it was given, with constraints
  std::vector<mapspace::Directive> constraints_;
  std::unique_ptr<record::Store> store_;
  std::unique_ptr<RunJournal> whole_;  ///< of all layers; null before KeepResult
  std::vector<Layer> layers_;
  std::unique_ptr<run::ScheduledRun<mapspace::Mapping>> run_;
  trial::StopReason end_ = trial::StopReason::kExhausted;
};

}  // namespace bayloom::accelerator

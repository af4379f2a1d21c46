// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/mapspace/cores/core_mapper.h"

namespace bayloom::accelerator {

class RunJournal;

/// Maps a network, layer by layer, onto equal cores that share the outermost level of an
/// architecture: first every layer onto one core, as NetworkMapping does, then divided between
/// cores (mapspace/cores/core_mapper.h).
///
///     MulticoreMapping run(LayersOf(graph), ShippedArchitecture("simba-like"), {}, {},
///                  mapspace::ParseNetworkOnChip("mesh:2x2,bandwidth=16"));
///     run.RunLayers();
///     run.RunSplits();
///     Use(run.split(), run.Sum());
class MulticoreMapping {
 public:
  /// `options`: of one objective, by the built-in model; as many evaluations again are spent on
  /// splits. With a database, splits are kept there as well; resumed are those of the same layers,
  /// architecture, constraints, network on chip, objective, mapper and evaluations. Throws
  /// InputError for what cannot be searched.
  MulticoreMapping(std::vector<NetworkLayer> layers, const mapspace::Architecture& architecture,
                   std::span<const mapspace::Directive> constraints, MapOptions options,
                   const mapspace::NetworkOnChip& network);
  ~MulticoreMapping();

  NetworkMapping& layers() { return *layers_; }
  const NetworkMapping& layers() const { return *layers_; }
  const mapspace::NetworkOnChip& network() const { return network_; }
  trial::StopReason RunLayers(const run::RunObserver& observer = {});
  /// After the layers; `on_layer` after each of them. Once a stop is asked for, what is left is
  /// divided as its mapping onto one core, adapted, does best.
  trial::StopReason RunSplits(const std::function<void(int done)>& on_layer = {});

  /// Keeps what is to be shown of the run in the database, if there is one (see
  /// RunJournal::KeepResult); nothing before it has ended.
  void KeepResult(const std::string& result);

  /// A layer that has a mapping.
  struct Split {
    int layer = 0;  ///< of layers().layers()
    mapspace::CoreMapping mapping;
    mapspace::CoreCost single;  ///< on one core
  };
  const std::vector<Split>& splits() const { return splits_; }

  /// All layers one after the other, as often as the network has them.
  struct Totals {
    mapspace::CoreCost cores;   ///< divided
    mapspace::CoreCost single;  ///< each on one core
  };
  Totals Sum() const;
  /// Layers whose splits were searched for, since the run was resumed.
  int searched() const { return searched_; }

 private:
  std::string Definition(const mapspace::Architecture& architecture,
                         std::span<const mapspace::Directive> constraints) const;
  int64_t EvaluationsOfLayer() const;
  void OpenJournal(const mapspace::Architecture& architecture,
                   std::span<const mapspace::Directive> constraints);
  void Restore(const std::vector<record::StoredTrial>& trials);
  void Keep(const Split& split);

  MapOptions options_;
  mapspace::NetworkOnChip network_;
  std::unique_ptr<NetworkMapping> layers_;
  std::vector<Split> splits_;
  std::map<int, mapspace::CoreMapping> known_;  ///< by layer, of before the run was resumed
  std::unique_ptr<RunJournal> journal_;         ///< null without a database
  int searched_ = 0;
  double begin_ = 0;
};

}  // namespace bayloom::accelerator

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bayloom/mapspace/cores/core_mapper.h"
#include "bayloom/tuning/map_run.h"

namespace bayloom::tuning {

/// Maps a network, layer by layer, onto equal cores that share the outermost level of an
/// architecture: first every layer onto one core, as MapRun does, then divided between cores
/// (mapspace/cores/core_mapper.h).
///
///     CoresRun run(LayersOf(graph), ShippedArchitecture("simba-like"), {}, {},
///                  mapspace::ParseNetworkOnChip("mesh:2x2,bandwidth=16"));
///     run.RunLayers();
///     run.RunSplits();
///     Use(run.split(), run.Sum());
class CoresRun {
 public:
  /// `options`: of one objective, by the built-in model; as many evaluations again are spent on
  /// splits. Throws InputError for what cannot be searched.
  CoresRun(std::vector<NetworkLayer> layers, const mapspace::Architecture& architecture,
           std::span<const mapspace::Directive> constraints, MapOptions options,
           const mapspace::NetworkOnChip& network);

  MapRun& layers() { return *layers_; }
  const MapRun& layers() const { return *layers_; }
  const mapspace::NetworkOnChip& network() const { return network_; }
  trial::StopReason RunLayers(const run::RunObserver& observer = {});
  /// After the layers; `on_layer` after each of them.
  trial::StopReason RunSplits(const std::function<void(int done)>& on_layer = {});

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

 private:
  MapOptions options_;
  mapspace::NetworkOnChip network_;
  std::unique_ptr<MapRun> layers_;
  std::vector<Split> splits_;
  double begin_ = 0;
};

}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/mapspace/cores/division_search.h"
#include "bayloom/mapspace/fused/group_search.h"
#include "bayloom/mapspace/fused/tile_mapper.h"

namespace bayloom::accelerator {

class RunJournal;

struct FusedOptions {
  /// Of the layers' searches; one objective, the built-in model. With a database, tiles are kept
  /// there as well; resumed are those of the same network, architecture, constraints, objective,
  /// mapper, evaluations of a tile and way of counting reuse.
  MapOptions layers;
  /// Evaluations of every tile's search.
  int64_t tile_evaluations = 1000;
  int max_operators = 12;  ///< of a group
};

/// Maps a network onto an architecture with the tensors between some of its layers on the chip:
/// first every layer by itself, as NetworkMapping does, then groups of consecutive operators whose
/// tiles run depth-first (mapspace/fused/group_search.h).
///
///     FusedMapping run(graph, ShippedArchitecture("simba-like"), {}, {});
///     run.RunLayers();
///     run.RunGroups();
///     Use(run.search().plan(), run.LayerByLayer());
class FusedMapping {
 public:
  /// Throws InputError for what cannot be searched, and architectures without a level on the chip
  /// where tensors can stay.
  FusedMapping(const graph::Graph& graph, const mapspace::Architecture& architecture,
               std::span<const mapspace::Directive> constraints, FusedOptions options);
  /// Of a network as FusedLayersOf gives it, with densities or widths of words, if there are any.
  FusedMapping(mapspace::FusedNetwork network, const mapspace::Architecture& architecture,
               std::span<const mapspace::Directive> constraints, FusedOptions options);
  ~FusedMapping();

  /// Where the search of groups is.
  struct Status {
    int64_t tiles = 0;        ///< known, those before the run was resumed included
    int64_t searched = 0;     ///< tiles, since it was resumed
    int64_t evaluations = 0;  ///< of tiles
    double seconds = 0;
    mapspace::GroupSearch::Progress search;
  };

  NetworkMapping& layers() { return *layers_; }
  const NetworkMapping& layers() const { return *layers_; }
  trial::StopReason RunLayers(const run::RunObserver& observer = {});
  /// After the layers, if they have mappings; `on_tile` after every tile that was mapped. Until the
  /// time that is left is spent.
  trial::StopReason RunGroups(const std::function<void(const Status&)>& on_tile = {});
  /// After the groups: how the cores of a chip share each of them. Once the time is over, or a stop
  /// is asked for, groups stay on one core. Tiles are kept as those of groups are.
  trial::StopReason RunDivisions(const mapspace::NetworkOnChip& chip,
                                 const std::function<void(const Status&)>& on_tile = {});

  /// Keeps what is to be shown of the run in the database, if there is one (see
  /// RunJournal::KeepResult); nothing before it has ended.
  void KeepResult(const std::string& result);

  const mapspace::FusedNetwork& network() const { return network_; }
  const mapspace::Architecture& architecture() const { return architecture_; }
  /// The best division known. Empty before RunGroups.
  const mapspace::GroupPlan& Plan() const;
  /// How cores share its groups. Without any before RunDivisions.
  const mapspace::DivisionPlan& divisions() const { return divisions_; }
  /// Every operator by itself.
  mapspace::GroupPlan LayerByLayer() const;
  /// The tiles that a group of the plan consists of, each operator's kinds.
  std::vector<mapspace::MappedTile> TilesOf(const mapspace::FusedGroup& group);
  std::vector<mapspace::MappedTile> TilesOf(const mapspace::DividedGroup& group);
  Status GetStatus() const;
  mapspace::MapObjective objective() const { return options_.layers.search.objectives[0]; }

 private:
  /// Of every mapped layer, per multiply-accumulate, on the chip only.
  struct OnChip {
    double energy_pj = 0;
    double cycles = 0;
    /// Of the whole layer by level of the architecture that can be home, where anything is sparse.
    std::map<int, std::shared_ptr<const mapspace::TileForms>> forms = {};
  };
  /// What every operator costs by itself, and where its layer is among the mapped ones.
  void ReadLayers();
  OnChip OnChipOf(const NetworkMapping::Layer& layer, const mapspace::Evaluation& evaluation) const;
  std::optional<mapspace::TileCost> Estimate(int op, const mapspace::Problem& tile,
                                             mapspace::RetentionLevel home) const;
  mapspace::TileCoster Estimator() const;
  /// Maps tiles that are not known; has no cost of them once the run is over.
  mapspace::TileCoster Exact(const std::function<void(const Status&)>& on_tile);
  /// Maps tiles and remembers them.
  mapspace::TileCoster CollectInto(std::vector<mapspace::MappedTile>& tiles);
  trial::StopReason EndOfGroups(bool ended);
  std::string Definition() const;
  void OpenRecord();
  void Restore(const std::vector<record::StoredTrial>& trials);
  void Keep(const mapspace::MappedTile& tile);
  bool IsOver() const;

  mapspace::FusedNetwork network_;
  mapspace::Architecture architecture_;
  std::vector<mapspace::Directive> constraints_;
  FusedOptions options_;
  std::unique_ptr<NetworkMapping> layers_;
  std::vector<int> layer_of_;  ///< of every operator; -1: it multiplies nothing
  std::vector<mapspace::GroupCost> costs_;
  std::vector<OnChip> on_chip_;          ///< of every mapped layer
  std::unique_ptr<RunJournal> journal_;  ///< null without a database
  std::unique_ptr<mapspace::TileMapper> tiles_;
  std::unique_ptr<mapspace::GroupSearch> search_;
  std::optional<mapspace::NetworkOnChip> chip_;
  mapspace::DivisionPlan divisions_;
  int64_t restored_ = 0;
  double begin_ = 0, end_ = 0;
};

}  // namespace bayloom::accelerator

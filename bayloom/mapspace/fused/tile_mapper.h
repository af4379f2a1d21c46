// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/fused/retention_level.h"
#include "bayloom/mapspace/mapper.h"

namespace bayloom::mapspace {

struct TileMapperOptions {
  std::string mapper = "genetic";
  /// Of every tile's search: its budget is that of one tile. `objective` is what it minimizes.
  MapperOptions search = {.run = {.budget = {.trials = 1000}}};
  ReuseCounting counting = ReuseCounting::kExact;
};

/// A tile of an operator with the best mapping known of it.
struct MappedTile {
  Problem problem;
  RetentionLevel home;
  /// Onto InsideOf; nullopt: none was found that fits, or the constraints leave none.
  std::optional<Mapping> mapping;
  TileCost cost;
  int64_t evaluations = 0;
};

/// Searches for mappings of operators' tiles, of each tile once: tiles of equal sizes are one
/// problem, whichever group they are of. A search begins with the best mappings of similar tiles.
class TileMapper {
 public:
  /// `constraints` as of a Mapspace, beside those of the architecture; those at the home level and
  /// outside are not used. The mapper must be one of one objective.
  TileMapper(Architecture architecture, std::vector<Directive> constraints,
             TileMapperOptions options);

  /// Of a layer mapped onto the whole architecture: searches of its tiles begin with that.
  void AddLayer(const Problem& problem, const Mapping& mapping);
  /// Makes a tile known that was mapped before. Throws InputError if it is no mapping of it.
  void Restore(const Problem& problem, RetentionLevel home, std::optional<Mapping> mapping);
  /// Called with every tile that is searched.
  void SetOnMapped(std::function<void(const MappedTile&)> on_mapped) {
    on_mapped_ = std::move(on_mapped);
  }

  /// Null if the search was stopped: what it had found is not remembered.
  const MappedTile* Map(const Problem& problem, RetentionLevel home);
  int64_t mapped() const { return mapped_; }            ///< tiles searched
  int64_t evaluations() const { return evaluations_; }  ///< in all of these searches

 private:
  using Key = std::string;
  static Key KeyOf(const Problem& problem, int level);
  /// Fills in mapping and evaluations. False if it was stopped.
  bool Search(const Key& key, const Mapspace& mapspace, const OnChipModel& model,
              MappedTile& tile) const;
  std::vector<Mapping> Suggestions(const Problem& problem, RetentionLevel home,
                                   const Mapspace& mapspace, const AnalyticalModel& model) const;

  Architecture architecture_;
  std::vector<Directive> constraints_;
  TileMapperOptions options_;
  std::function<void(const MappedTile&)> on_mapped_;
  std::map<Key, MappedTile> tiles_;
  std::vector<std::pair<Problem, Mapping>> layers_;
  int64_t mapped_ = 0, evaluations_ = 0;
};

}  // namespace bayloom::mapspace

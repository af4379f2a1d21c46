#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/transfer.h"

namespace bayloom {

struct MapperOptions {
  uint64_t seed = 0;
  /// When to stop: after this many evaluations, ...
  int64_t max_evaluations = 4000;
  /// ... this time, ...
  double max_seconds = std::numeric_limits<double>::infinity();
  /// ... or this many evaluations that found nothing better (Timeloop's victory condition); 0:
  /// never.
  int64_t victory = 0;
  /// Of the mappers that search through an optimizer.
  TileEncoding tiles = TileEncoding::kDivisor;
  OrderEncoding orders = OrderEncoding::kPermutation;
  /// Searches of other problems and architectures that "bayesian" learns from.
  std::vector<EarlierMappings> earlier = {};
  TransferMethod transfer = TransferMethod::kContextual;
  /// Only so many parameters are searched, those that matter most to the model's value of so many
  /// random mappings; the others are as in the best of these. 0: all.
  int top_k = 0;
  int64_t ranking_samples = 400;
  /// What the evaluator's values are.
  MapObjective objective = MapObjective::kEnergy;
  /// Asked now and then; a true ends the search.
  std::function<bool()> stop;
};

enum class MapperEnd : uint8_t { kEvaluations, kTime, kVictory, kExhausted, kStopped };
/// "evaluations", "time", "victory", "exhausted", "stopped".
std::string_view ToString(MapperEnd end);

struct MapperResult {
  /// How the best value came down.
  struct Improvement {
    int64_t evaluations;
    double value;
  };

  std::optional<Mapping> best;
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Mappings that fit and were evaluated, and all that were drawn.
  int64_t evaluations = 0;
  int64_t drawn = 0;
  double seconds = 0;
  MapperEnd end = MapperEnd::kExhausted;
  std::vector<Improvement> improvements;
  /// Why the last mapping without a value has none; empty if all have.
  std::string failure;

  /// The best value after so many evaluations; NaN before the first.
  double BestAfter(int64_t count) const;
};

class Mapper;
class MapperRun;

/// Searches a mapspace for the least value. What does not fit according to the model is never
/// evaluated: capacities are known constraints.
///
///   random-pruned  as Timeloop's mapper: uniform tilings, up to 16 loop orders of each that fits
///   exhaustive     everything, for small mapspaces; orders of loops that run once are not varied
///   genetic        crossover of dimensions, moves of primes and loops (after GAMMA, Kao 2020)
///   annealing      one mapping that changes step by step, worse ones accepted less and less
///   others         an optimizer of bayloom/optimizer by its name ("bayesian"), on an encoding
///
/// A search can be interrupted: a scheduler gives the layers of a network their turns.
class MapperSearch {
 public:
  /// Mapspace, model and evaluator must outlive the search. Throws InputError for an unknown name,
  /// and for "exhaustive" on more than 10^9 mappings.
  MapperSearch(std::string_view name, const Mapspace& mapspace, const AnalyticalModel& model,
               MappingEvaluator& evaluator, const MapperOptions& options);
  ~MapperSearch();

  /// Goes on until there are so many evaluations in all, or one of the options ends the search.
  void Continue(int64_t evaluations);
  /// Somebody thinks this mapping of the mapspace good. Optimizers and "genetic" evaluate it next,
  /// the others search on their own.
  void Offer(const Mapping& mapping);
  /// Whether going on would change nothing.
  bool finished() const;
  const MapperResult& result() const;

 private:
  std::unique_ptr<MapperRun> run_;
  std::unique_ptr<Mapper> mapper_;
};

/// A search from its beginning to its end.
MapperResult RunMapper(std::string_view name, const Mapspace& mapspace,
                       const AnalyticalModel& model, MappingEvaluator& evaluator,
                       const MapperOptions& options);

/// Whether the mapper of this name is an optimizer on an encoding.
bool SearchesAnEncoding(std::string_view name);

/// All names that RunMapper knows.
std::vector<std::string_view> MapperNames();

}  // namespace bayloom

#pragma once

#include "bayloom/base/clock.h"
#include "bayloom/base/random.h"
#include "bayloom/mapspace/mapper.h"

namespace bayloom {

/// What the mappers share: budget, incumbent, random numbers.
class MapperRun {
 public:
  MapperRun(const Mapspace& mapspace, const AnalyticalModel& model, MappingEvaluator& evaluator,
            const MapperOptions& options)
      : mapspace_(mapspace),
        model_(model),
        evaluator_(evaluator),
        options_(options),
        random_(options.seed),
        begin_(MonotonicSeconds()) {}

  const Mapspace& mapspace() const { return mapspace_; }
  const AnalyticalModel& model() const { return model_; }
  const MapperOptions& options() const { return options_; }
  RandomStream& random() { return random_; }
  const MapperResult& result() const { return result_; }

  /// Whether the budget is spent.
  bool Done();
  /// What was drawn fits or not; many draws in a row that do not fit end the search.
  bool Fits(const Mapping& mapping);
  void CountDraw(bool fits);
  /// Evaluates a mapping that fits.
  Outcome Evaluate(const Mapping& mapping);
  /// Draws until a mapping settles and fits; nullopt if the search is done before.
  std::optional<Mapping> DrawFitting();

  /// The share of the budget used so far, 0 to 1.
  double Progress() const;
  MapperResult Finish();

 private:
  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  MappingEvaluator& evaluator_;
  const MapperOptions& options_;
  RandomStream random_;
  double begin_;
  MapperResult result_;
  int64_t misses_ = 0;  ///< draws since the last that fitted
  bool done_ = false;
};

// One file each.
void SearchRandomPruned(MapperRun& run);
void SearchExhaustively(MapperRun& run);
void SearchGenetically(MapperRun& run);
void SearchByAnnealing(MapperRun& run);
void SearchWithOptimizer(MapperRun& run, std::string_view optimizer);

}  // namespace bayloom

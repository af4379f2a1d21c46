#pragma once

#include <memory>

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
        limit_(options.max_evaluations) {}

  const Mapspace& mapspace() const { return mapspace_; }
  const AnalyticalModel& model() const { return model_; }
  const MapperOptions& options() const { return options_; }
  RandomStream& random() { return random_; }
  const MapperResult& result() const { return result_; }

  /// Until Pause, the search may go on to so many evaluations in all.
  void Resume(int64_t evaluations);
  void Pause();
  /// Whether the search has ended for another reason than its number of evaluations.
  bool is_over() const { return over_; }
  /// Whether the search has to pause.
  bool Done();
  /// There is nothing left to try.
  void Exhaust() { over_ = true; }
  /// What was drawn fits or not; many draws in a row that do not fit end the search.
  bool Fits(const Mapping& mapping);
  void CountDraw(bool fits);
  /// Evaluates a mapping that fits.
  Outcome Evaluate(const Mapping& mapping);
  /// Draws until a mapping settles and fits; nullopt if the search is done before.
  std::optional<Mapping> DrawFitting();

  /// The share of the budget used so far, 0 to 1.
  double Progress() const;

 private:
  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  MappingEvaluator& evaluator_;
  MapperOptions options_;
  RandomStream random_;
  int64_t limit_;       ///< evaluations before the next pause
  double resumed_ = 0;  ///< when
  MapperResult result_;
  int64_t misses_ = 0;  ///< draws since the last that fitted
  bool over_ = false;
};

/// One way to search. What it has to remember over a pause is its own.
class Mapper {
 public:
  virtual ~Mapper() = default;
  /// Goes on until the run is done, or there is nothing left to try.
  virtual void Search(MapperRun& run) = 0;
  /// Somebody thinks this mapping good: whoever learns from what others found evaluates it next.
  virtual void Offer(const Mapping&) {}
};

// One file each.
std::unique_ptr<Mapper> MakeRandomPrunedMapper(const MapperRun& run);
std::unique_ptr<Mapper> MakeExhaustiveMapper(const MapperRun& run);
std::unique_ptr<Mapper> MakeGeneticMapper(const MapperRun& run);
std::unique_ptr<Mapper> MakeAnnealingMapper(const MapperRun& run);
std::unique_ptr<Mapper> MakeOptimizerMapper(const MapperRun& run, std::string_view optimizer);

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/exact/certificate.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/transfer.h"
#include "bayloom/run/scheduled_run.h"

namespace bayloom::mapspace {

struct MapperOptions {
  /// Of the whole run, with the seed of all choices; "annealing" cools down by how much is left.
  run::RunOptions run = {.budget = {.trials = 4000}};
  /// Stop after so many evaluations that found nothing better (Timeloop's victory condition); 0:
  /// never.
  int64_t victory = 0;
  /// Of the mappers that search through an optimizer.
  std::string tiles = "divisor";       ///< see TileEncodings
  std::string orders = "permutation";  ///< see OrderEncodings
  /// Searches of other problems and architectures that "bayesian" learns from.
  std::vector<EarlierMappings> earlier = {};
  std::string transfer = "contextual";  ///< see optimizer::TransferMethods
  /// Only so many parameters are searched, those that matter most to the model's value of so many
  /// random mappings; the others are as in the best of these. 0: all.
  int top_k = 0;
  int64_t ranking_samples = 400;
  /// What is minimized: the evaluator's values, then named values of its outcomes. Only mappers
  /// that search through an optimizer minimize several.
  std::vector<MapObjective> objectives = {MapObjective::kEnergy};
  /// Whether to remember every mapping and never to evaluate one twice: for simulators. Drawing
  /// again what the built-in model has answered costs less than looking it up.
  bool evaluate_once = false;
};

struct MapperResult {
  /// How the best value came down.
  struct Improvement {
    int64_t evaluations;
    double value;
  };

  /// A mapping that no other one is at least as good as in all objectives.
  struct FrontMember {
    Mapping mapping;
    std::vector<double> values;  ///< of each objective
    int64_t evaluations;         ///< when it was found
  };

  std::optional<Mapping> best;
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Mappings that fit and were evaluated, and all that were drawn.
  int64_t evaluations = 0;
  int64_t drawn = 0;
  double seconds = 0;  ///< of RunMapper
  trial::StopReason end = trial::StopReason::kExhausted;
  std::vector<Improvement> improvements;
  /// With several objectives; `best` is the best in the first one.
  std::vector<FrontMember> front;
  /// What "exact" has proved; none before it is through or stopped, or where it proves nothing.
  std::optional<Certificate> certificate;
  /// Why the last mapping without a value has none; empty if all have.
  std::string failure;

  /// The best value after so many evaluations; NaN before the first.
  double BestAfter(int64_t count) const;
};

class Mapper;
class MapperContext;

/// A search of a mapspace for the least value, as a task of a run. What does not fit according to
/// the model is never evaluated: capacities are known constraints. Of mappings whose values are
/// equal but for rounding, that with the least of TieBreakOf is best.
///
///   random-pruned  as Timeloop's mapper: uniform tilings, up to 16 loop orders of each that fits
///   exhaustive     everything, for small mapspaces; orders of loops that run once are not varied
///   exact          the best of all, or how far from it the best found is at most, with a
///                  certificate; see SearchExactly. Where WhyNotExact says that nothing can be
///                  proved, it is "genetic"
///   genetic        crossover of dimensions, moves of primes and loops (after GAMMA, Kao 2020)
///   annealing      one mapping that changes step by step, worse ones accepted less and less
///   others         an optimizer of bayloom/optimizer by its name ("bayesian"), on an encoding
class MapperTask final : public run::RunTask<Mapping> {
 public:
  /// All must outlive the task; `store` may be null. Throws InputError for an unknown name, and for
  /// "exhaustive" on more than 10^9 mappings, and for several objectives with mappers of one.
  MapperTask(std::string_view name, const Mapspace& mapspace, const AnalyticalModel& model,
             trial::Evaluator<Mapping>& evaluator, const MapperOptions& options,
             trial::TrialStore* store = nullptr);
  ~MapperTask() override;

  /// Suggests a mapping of the mapspace. Optimizers and "genetic" evaluate it next,
  /// the others search on their own.
  void Suggest(const Mapping& mapping);
  /// Called at the beginning of every slot.
  void SetOnBegin(std::function<void()> on_begin) { on_begin_ = std::move(on_begin); }
  const MapperResult& result() const;

  void BeginSlot() override;
  std::vector<Mapping> Propose(int n, const std::function<bool()>& interrupted) override;
  std::vector<std::string> TakeNotices() override;
  trial::Evaluator<Mapping>& evaluator() override { return evaluator_; }
  run::TrialValue Tell(Mapping&& mapping, const trial::Outcome& outcome, double elapsed) override;
  bool HasConverged() const override;
  trial::TrialStore* store() override { return store_; }
  trial::TrialRecord RecordOf(const Mapping& mapping) override;

 private:
  std::string name_;
  std::unique_ptr<MapperContext> context_;
  std::unique_ptr<Mapper> mapper_;
  trial::Evaluator<Mapping>& evaluator_;
  trial::TrialStore* store_;
  std::function<void()> on_begin_;
  /// What was evaluated, if nothing is to be evaluated twice; without an outcome while it is tried.
  std::unordered_map<uint64_t, std::optional<trial::Outcome>> known_;
};

/// A search from its beginning to its end, without a store.
MapperResult RunMapper(std::string_view name, const Mapspace& mapspace,
                       const AnalyticalModel& model, trial::Evaluator<Mapping>& evaluator,
                       const MapperOptions& options);

/// Whether the mapper of this name is an optimizer on an encoding.
bool SearchesAnEncoding(std::string_view name);

/// The names of mappers, stable ones and experimental ones.
std::vector<std::string> MapperNames();
std::vector<std::string> ExperimentalMapperNames();

}  // namespace bayloom::mapspace

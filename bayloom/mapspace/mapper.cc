#include "bayloom/mapspace/mapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper_run.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom {
namespace {

/// Draws in a row that do not fit before the search is given up.
constexpr int64_t kMostMisses = 5'000'000;

struct NamedMapper {
  std::string_view name;
  std::unique_ptr<Mapper> (*make)(const MapperRun&);
};

constexpr NamedMapper kMappers[] = {{"random-pruned", MakeRandomPrunedMapper},
                                    {"exhaustive", MakeExhaustiveMapper},
                                    {"genetic", MakeGeneticMapper},
                                    {"annealing", MakeAnnealingMapper}};

}  // namespace

std::string_view ToString(MapperEnd end) {
  constexpr std::array<std::string_view, 5> kNames = {"evaluations", "time", "victory", "exhausted",
                                                      "stopped"};
  return kNames[static_cast<size_t>(end)];
}

double MapperResult::BestAfter(int64_t count) const {
  double after = std::numeric_limits<double>::quiet_NaN();
  for (const Improvement& improvement : improvements) {
    if (improvement.evaluations <= count) after = improvement.value;
  }
  return after;
}

void MapperRun::Resume(int64_t evaluations) {
  limit_ = std::min(evaluations, options_.max_evaluations);
  resumed_ = MonotonicSeconds();
}

void MapperRun::Pause() {
  result_.seconds += MonotonicSeconds() - resumed_;
  if (!over_ && result_.evaluations >= options_.max_evaluations) {
    result_.end = MapperEnd::kEvaluations;
    over_ = true;
  }
}

bool MapperRun::Done() {
  if (over_) return true;
  const auto end = [this](MapperEnd reason) {
    result_.end = reason;
    return over_ = true;
  };
  if (misses_ >= kMostMisses) return end(MapperEnd::kExhausted);
  if (result_.evaluations >= limit_) return true;
  if (result_.seconds + MonotonicSeconds() - resumed_ >= options_.max_seconds) {
    return end(MapperEnd::kTime);
  }
  if (options_.victory > 0 && !result_.improvements.empty() &&
      result_.evaluations - result_.improvements.back().evaluations >= options_.victory) {
    return end(MapperEnd::kVictory);
  }
  if (options_.stop && options_.stop()) return end(MapperEnd::kStopped);
  return false;
}

void MapperRun::CountDraw(bool fits) {
  ++result_.drawn;
  misses_ = fits ? 0 : misses_ + 1;
}

bool MapperRun::Fits(const Mapping& mapping) {
  const bool fits = model_.Fits(mapping);
  CountDraw(fits);
  return fits;
}

Outcome MapperRun::Evaluate(const Mapping& mapping) {
  const Outcome outcome = evaluator_.Evaluate(mapping);
  ++result_.evaluations;
  if (!outcome.ok()) result_.failure = outcome.reason;
  if (outcome.ok() && !(outcome.value >= result_.value)) {
    result_.value = outcome.value;
    result_.best = mapping;
    result_.improvements.push_back({result_.evaluations, outcome.value});
  }
  return outcome;
}

std::optional<Mapping> MapperRun::DrawFitting() {
  Mapping mapping;
  while (!Done()) {
    if (!mapspace_.SampleTiling(random_, mapping)) {
      CountDraw(false);
    } else if (Fits(mapping)) {
      mapspace_.ShuffleOrders(random_, mapping);
      return mapping;
    }
  }
  return std::nullopt;
}

double MapperRun::Progress() const {
  const double evaluations =
      static_cast<double>(result_.evaluations) / static_cast<double>(options_.max_evaluations);
  const double seconds = result_.seconds + MonotonicSeconds() - resumed_;
  return std::clamp(std::max(evaluations, seconds / options_.max_seconds), 0.0, 1.0);
}

std::vector<std::string_view> MapperNames() {
  std::vector<std::string_view> names;
  for (const NamedMapper& mapper : kMappers) names.push_back(mapper.name);
  for (std::string_view optimizer : OptimizerNames()) {
    if (std::ranges::find(names, optimizer) == names.end()) names.push_back(optimizer);
  }
  return names;
}

bool SearchesAnEncoding(std::string_view name) {
  return std::ranges::find(kMappers, name, &NamedMapper::name) == std::end(kMappers);
}

MapperSearch::MapperSearch(std::string_view name, const Mapspace& mapspace,
                           const AnalyticalModel& model, MappingEvaluator& evaluator,
                           const MapperOptions& options)
    : run_(std::make_unique<MapperRun>(mapspace, model, evaluator, options)) {
  const std::vector<std::string_view> names = MapperNames();
  if (std::ranges::find(names, name) == names.end()) {
    throw InputError(
        fmt::format("there is no mapper '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  const auto own = std::ranges::find(kMappers, name, &NamedMapper::name);
  mapper_ = own != std::end(kMappers) ? own->make(*run_) : MakeOptimizerMapper(*run_, name);
}

MapperSearch::~MapperSearch() = default;

void MapperSearch::Continue(int64_t evaluations) {
  run_->Resume(evaluations);
  mapper_->Search(*run_);
  if (!run_->Done()) run_->Exhaust();
  run_->Pause();
}

void MapperSearch::Offer(const Mapping& mapping) { mapper_->Offer(mapping); }

bool MapperSearch::finished() const { return run_->is_over(); }

const MapperResult& MapperSearch::result() const { return run_->result(); }

MapperResult RunMapper(std::string_view name, const Mapspace& mapspace,
                       const AnalyticalModel& model, MappingEvaluator& evaluator,
                       const MapperOptions& options) {
  MapperSearch search(name, mapspace, model, evaluator, options);
  search.Continue(options.max_evaluations);
  return search.result();
}

}  // namespace bayloom

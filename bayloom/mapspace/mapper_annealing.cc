#include <cmath>

#include "bayloom/mapspace/mapper_run.h"

namespace bayloom {
namespace {

/// Ratios of values that are accepted with a chance of 1/e, in the beginning and in the end.
constexpr double kHot = 2;
constexpr double kCold = 1.002;
/// Steps that may fail in a row before another start is drawn.
constexpr int kMostFailures = 1000;

/// A neighbour of a mapping that settles and fits.
std::optional<Mapping> Neighbour(MapperRun& run, const Mapping& mapping) {
  for (int i = 0; i < kMostFailures && !run.Done(); ++i) {
    Mapping changed = mapping;
    if (run.mapspace().Step(run.random(), changed) && run.Fits(changed)) return changed;
  }
  return std::nullopt;
}

}  // namespace

void SearchByAnnealing(MapperRun& run) {
  while (std::optional<Mapping> current = run.DrawFitting()) {
    Outcome outcome = run.Evaluate(*current);
    while (std::optional<Mapping> next = Neighbour(run, *current)) {
      const Outcome tried = run.Evaluate(*next);
      // Values span orders of magnitude: what counts is by what factor they differ.
      const double temperature =
          std::log(kHot) * std::pow(std::log(kCold) / std::log(kHot), run.Progress());
      const bool better = tried.ok() && !(tried.value >= outcome.value);
      const double chance =
          tried.ok() ? std::exp(std::log(outcome.value / tried.value) / temperature) : 0;
      if (better || run.random().Uniform() < chance) {
        current = std::move(next);
        outcome = tried;
      }
    }
  }
}

}  // namespace bayloom

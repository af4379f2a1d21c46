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

class AnnealingMapper final : public Mapper {
 public:
  void Search(MapperRun& run) override {
    while (current_ || Begin(run)) {
      while (std::optional<Mapping> next = Neighbour(run, *current_)) {
        const Outcome tried = run.Evaluate(*next);
        if (Accepts(tried, run)) {
          current_ = std::move(next);
          outcome_ = tried;
        }
      }
      if (run.Done()) return;
      current_.reset();
    }
  }

 private:
  bool Begin(MapperRun& run) {
    current_ = run.DrawFitting();
    if (current_) outcome_ = run.Evaluate(*current_);
    return current_.has_value();
  }

  /// Values span orders of magnitude: what counts is by what factor they differ.
  bool Accepts(const Outcome& tried, MapperRun& run) const {
    const double temperature =
        std::log(kHot) * std::pow(std::log(kCold) / std::log(kHot), run.Progress());
    const bool better = tried.ok() && !(tried.value >= outcome_.value);
    const double chance =
        tried.ok() ? std::exp(std::log(outcome_.value / tried.value) / temperature) : 0;
    return better || run.random().Uniform() < chance;
  }

  std::optional<Mapping> current_;
  Outcome outcome_;
};

}  // namespace

std::unique_ptr<Mapper> MakeAnnealingMapper(const MapperRun&) {
  return std::make_unique<AnnealingMapper>();
}

}  // namespace bayloom

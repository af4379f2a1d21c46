// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "bayloom/mapspace/mapper_context.h"

namespace bayloom::mapspace {
namespace {

/// Ratios of values that are accepted with a chance of 1/e, in the beginning and in the end.
constexpr double kStartTemperature = 2;
constexpr double kEndTemperature = 1.002;
/// Steps that may fail in a row before another start is drawn.
constexpr int kMaxNeighbourDraws = 1000;

/// A neighbour of a mapping that can be repaired and fits.
std::optional<Mapping> Neighbour(MapperContext& context, const Mapping& mapping) {
  for (int i = 0; i < kMaxNeighbourDraws && !context.Done(); ++i) {
    Mapping changed = mapping;
    if (context.mapspace().Step(context.random(), changed) && context.Fits(changed)) return changed;
  }
  return std::nullopt;
}

class AnnealingMapper final : public Mapper {
 public:
  std::optional<Mapping> Next(MapperContext& context) override {
    if (current_) {
      std::optional<Mapping> next = Neighbour(context, *current_);
      if (next || context.Done()) return next;
      current_.reset();
    }
    return context.DrawFitting();
  }

  void Tell(Mapping mapping, const trial::Outcome& outcome, MapperContext& context) override {
    if (current_ && !Accepts(outcome, context)) return;
    current_ = std::move(mapping);
    outcome_ = outcome;
  }

 private:
  /// Values span orders of magnitude: what counts is by what factor they differ.
  bool Accepts(const trial::Outcome& tried, MapperContext& context) const {
    const double temperature =
        std::log(kStartTemperature) *
        std::pow(std::log(kEndTemperature) / std::log(kStartTemperature), context.Progress());
    const bool better = tried.ok() && !(tried.value >= outcome_.value);
    const double chance =
        tried.ok() ? std::exp(std::log(outcome_.value / tried.value) / temperature) : 0;
    return better || context.random().Uniform() < chance;
  }

  std::optional<Mapping> current_;  ///< none before the first, and after a dead end
  trial::Outcome outcome_;
};

}  // namespace

std::unique_ptr<Mapper> MakeAnnealingMapper(const MapperContext&) {
  return std::make_unique<AnnealingMapper>();
}

}  // namespace bayloom::mapspace

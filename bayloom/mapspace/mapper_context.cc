// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapper_context.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "bayloom/mapspace/rounded_rank.h"
#include "bayloom/pareto/front.h"

namespace bayloom::mapspace {
namespace {

constexpr int64_t kNoRank = std::numeric_limits<int64_t>::max();

}  // namespace

MapperContext::MapperContext(const Mapspace& mapspace, const AnalyticalModel& model,
                             const MapperOptions& options)
    : mapspace_(mapspace),
      model_(model),
      options_(options),
      random_(options.run.seed),
      started_(options_.run.budget.clock()) {}

bool MapperContext::Fits(const Mapping& mapping) {
  const bool fits = model_.Fits(mapping);
  CountDraw(fits);
  return fits;
}

void MapperContext::CountDraw(bool fits) {
  ++result_.drawn;
  misses_ = fits ? 0 : misses_ + 1;
}

double MapperContext::TieBreak(const trial::Outcome& outcome) const {
  return outcome.Get(ToString(TieBreakOf(options_.objectives[0])),
                     std::numeric_limits<double>::infinity());
}

void MapperContext::Count(const Mapping& mapping, const trial::Outcome& outcome) {
  ++result_.evaluations;
  if (outcome.ok() && options_.objectives.size() > 1) ExtendFront(mapping, outcome);
  if (!outcome.ok()) {
    result_.failure = outcome.reason;
    return;
  }
  const int64_t rank = RoundedRank(outcome.value);
  const int64_t best_rank = result_.best ? RoundedRank(result_.value) : kNoRank;
  const double tie = TieBreak(outcome);
  if (rank > best_rank || (rank == best_rank && tie >= best_tie_)) return;
  result_.value = outcome.value;
  result_.best = mapping;
  best_tie_ = tie;
  if (rank == best_rank) {
    result_.improvements.back().value = outcome.value;  // but for rounding what it was
  } else {
    result_.improvements.push_back({result_.evaluations, outcome.value});
  }
}

void MapperContext::ExtendFront(const Mapping& mapping, const trial::Outcome& outcome) {
  MapperResult::FrontMember added = {mapping, ValuesOf(outcome, options_.objectives),
                                     result_.evaluations};
  const auto values = std::mem_fn(&MapperResult::FrontMember::values);
  if (pareto::ExtendFront(result_.front, std::move(added), values)) {
    std::ranges::sort(result_.front, {}, &MapperResult::FrontMember::values);
  }
}

std::optional<Mapping> MapperContext::DrawFitting() {
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

double MapperContext::Progress() const {
  const double evaluations =
      static_cast<double>(result_.evaluations) / static_cast<double>(options_.run.budget.trials);
  const double seconds = (options_.run.budget.clock() - started_) / options_.run.budget.seconds;
  return std::clamp(std::max(evaluations, seconds), 0.0, 1.0);
}

}  // namespace bayloom::mapspace

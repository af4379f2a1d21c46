// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/core_mapper.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/adapt_mapping.h"
#include "bayloom/mapspace/rounded_rank.h"

namespace bayloom::mapspace {
namespace {

/// A split with what is known of it.
struct RatedSplit {
  std::unique_ptr<CoreModel> model;
  std::unique_ptr<Mapspace> mapspace;
  std::optional<Mapping> mapping;
  std::pair<int64_t, double> rank = {std::numeric_limits<int64_t>::max(), 0};
};

/// Less is better; of equal values, by what breaks ties.
std::pair<int64_t, double> RankOf(const CoreCost& cost, MapObjective objective) {
  return {RoundedRank(CoreModel::ValueOf(cost, objective)),
          CoreModel::ValueOf(cost, TieBreakOf(objective))};
}

/// Takes over a mapping that is better.
void Offer(const Mapping& mapping, MapObjective objective, RatedSplit& split) {
  const auto rank = RankOf(split.model->Evaluate(mapping), objective);
  if (rank >= split.rank) return;
  split.mapping = mapping;
  split.rank = rank;
}

/// Nullopt where the constraints' factors do not divide the parts' bounds. (That they name what is
/// there, the whole problem has shown.)
std::optional<RatedSplit> Rate(std::unique_ptr<CoreModel> model, const Problem& whole,
                               std::span<const Directive> constraints, const Mapping& single,
                               MapObjective objective) {
  RatedSplit split;
  try {
    split.mapspace = std::make_unique<Mapspace>(model->part().problem(),
                                                model->part().architecture(), constraints);
  } catch (const InputError&) {
    return std::nullopt;
  }
  split.model = std::move(model);
  const auto adapted = AdaptMapping(single, whole, *split.mapspace, split.model->part());
  if (adapted) Offer(*adapted, objective, split);
  return split;
}

void Search(const CoreMapperOptions& options, RatedSplit& split) {
  const auto evaluator = MakeCoreEvaluator(*split.model, options.search.objectives[0]);
  MapperTask task(options.mapper, *split.mapspace, split.model->part(), *evaluator, options.search);
  if (split.mapping) task.Suggest(*split.mapping);
  run::ScheduledRun<Mapping> run({.budget = options.search.run.budget, .scheduler = "round-robin"});
  run.AddTask(task, {.name = split.model->part().problem().name});
  run.Run();
  if (task.result().best) Offer(*task.result().best, options.search.objectives[0], split);
}

}  // namespace

CoreMapping MapOntoCores(const Problem& problem, const Architecture& architecture,
                         std::span<const Directive> constraints, const NetworkOnChip& network,
                         const Mapping& single, const CoreMapperOptions& options) {
  const MapObjective objective = options.search.objectives[0];
  const auto model_of = [&](CoreSplit split) {
    return std::make_unique<CoreModel>(problem, architecture, network, std::move(split),
                                       options.counting);
  };
  const CoreModel whole(problem, architecture, network, {}, options.counting);
  CoreMapping best = {
      .split = {}, .part = problem, .mapping = single, .cost = whole.Evaluate(single)};
  auto least = RankOf(best.cost, objective);
  std::vector<RatedSplit> splits;
  for (const CoreSplit& split : SplitsOver(problem, network.CoreCount())) {
    std::optional<RatedSplit> rated =
        Rate(model_of(split), problem, constraints, single, objective);
    if (rated) splits.push_back(*std::move(rated));
  }
  std::ranges::stable_sort(splits, {}, &RatedSplit::rank);
  if (std::ssize(splits) > options.max_searched) {
    splits.erase(splits.begin() + options.max_searched, splits.end());
  }
  CoreMapperOptions each = options;
  if (!splits.empty() && each.search.run.budget.trials != trial::Budget::kUnlimited) {
    each.search.run.budget.trials =
        std::max<int64_t>(1, options.search.run.budget.trials / std::ssize(splits));
  }
  for (RatedSplit& split : splits) {
    if (!options.search.run.budget.stop()) Search(each, split);
    if (!split.mapping || split.rank >= least) continue;
    least = split.rank;
    best = {.split = split.model->split(),
            .part = split.model->part().problem(),
            .mapping = *split.mapping,
            .cost = split.model->Evaluate(*split.mapping)};
  }
  return best;
}

}  // namespace bayloom::mapspace

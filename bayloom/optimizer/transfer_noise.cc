// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "bayloom/model/prior_mean.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/optimizer/internal/features.h"
#include "bayloom/optimizer/transfer.h"

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// So many trials of a task are looked at, drawn at random.
constexpr size_t kExamined = 400;
constexpr int kTrees = 50;
/// The share of pairs in order by what one half of a task's trials says of the other half, if the
/// values depend on the parameters; else it is one half.
constexpr double kLearnable = 0.65;
/// Most tasks are what they seem: the odds beforehand are 9.
const double kPriorLogOdds = std::log(9);

/// Trials in an order drawn at random, with the ranks of their values.
model::TaskObservations Drawn(const EarlierTask& task, base::RandomStream& random) {
  std::vector<size_t> order(task.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.Shuffle(order);
  order.resize(std::min(order.size(), kExamined));
  std::vector<space::Configuration> configurations;
  std::vector<double> ascending;
  for (const size_t i : order) {
    configurations.push_back(task.configurations[i]);
    ascending.push_back(task.values[i]);
  }
  std::ranges::sort(ascending);
  VectorXd ranks(std::ssize(order));
  for (Index i = 0; i < ranks.size(); ++i) {
    const double value = task.values[order[static_cast<size_t>(i)]];
    ranks[i] = static_cast<double>(std::ranges::lower_bound(ascending, value) - ascending.begin());
  }
  return {Features(task.space)(configurations), std::move(ranks)};
}

/// The share of pairs of the latter that a forest that learnt the former puts in order.
double ShareInOrder(const model::TaskObservations& learnt, const model::TaskObservations& asked,
                    base::RandomStream& random) {
  model::RandomForestOptions options;
  options.trees = kTrees;
  options.scale = model::ObjectiveScale::kLinear;
  model::RandomForest forest(options);
  forest.Fit(learnt.rows, learnt.values, random);
  VectorXd mean, variance;
  forest.Predict(asked.rows, mean, variance);
  return model::ShareInOrder(mean, asked.values).value_or(0.5);
}

}  // namespace

double ProbabilityOfLearnable(const EarlierTask& task) {
  base::RandomStream random(1);
  const model::TaskObservations all = Drawn(task, random);
  const Index half = all.values.size() / 2, rest = all.values.size() - half;
  double log_odds = kPriorLogOdds;
  if (half > 1) {
    const model::TaskObservations first{all.rows.topRows(half), all.values.head(half)},
        second{all.rows.bottomRows(rest), all.values.tail(rest)};
    const double share =
        (ShareInOrder(first, second, random) + ShareInOrder(second, first, random)) / 2;
    log_odds +=
        static_cast<double>(all.values.size() - 2) *
        (share * std::log(kLearnable / 0.5) + (1 - share) * std::log((1 - kLearnable) / 0.5));
  }
  return 1 / (1 + std::exp(-log_odds));
}

std::vector<std::string> TakeOutNoise(std::vector<EarlierTask>& tasks) {
  std::vector<std::string> names;
  std::erase_if(tasks, [&](const EarlierTask& task) {
    if (ProbabilityOfLearnable(task) >= 0.5) return false;
    names.push_back(task.name);
    return true;
  });
  return names;
}

}  // namespace bayloom::optimizer

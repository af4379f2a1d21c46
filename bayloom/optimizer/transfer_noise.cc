// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "bayloom/model/random_forest.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/transfer.h"

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// So many trials of a task are looked at, drawn at random.
constexpr size_t kExamined = 1000;
constexpr int kTrees = 50;
/// The correlation with what one half of a task's trials says of the other half, if the values
/// depend on the parameters; else there is none.
constexpr double kLearnable = 0.3;
/// Most tasks are what they seem: the odds beforehand are 9.
const double kPriorLogOdds = std::log(9);

struct Trials {
  model::RowMatrix rows;
  VectorXd ranks;
  VectorXd values;  ///< their logarithms where all are positive

  Trials Part(Index begin, Index count) const {
    return {rows.middleRows(begin, count), ranks.segment(begin, count),
            values.segment(begin, count)};
  }
};

/// In an order drawn at random.
Trials Drawn(const EarlierTask& task, base::RandomStream& random) {
  std::vector<size_t> order(task.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.Shuffle(order);
  order.resize(std::min(order.size(), kExamined));
  std::vector<space::Configuration> configurations;
  VectorXd values(std::ssize(order));
  for (Index i = 0; i < values.size(); ++i) {
    configurations.push_back(task.configurations[order[static_cast<size_t>(i)]]);
    values[i] = task.values[order[static_cast<size_t>(i)]];
  }
  VectorXd ascending = values;
  std::ranges::sort(ascending);
  const VectorXd ranks = values.unaryExpr([&](double value) {
    return static_cast<double>(std::ranges::lower_bound(ascending, value) - ascending.begin());
  });
  if ((values.array() > 0).all()) values = values.array().log();
  return {Features(task.space)(configurations), ranks, values};
}

/// Pearson's; 0 where one of them is constant.
double Correlation(VectorXd a, VectorXd b) {
  a.array() -= a.mean();
  b.array() -= b.mean();
  const double norm = a.norm() * b.norm();
  return norm > 0 ? a.dot(b) / norm : 0;
}

/// Of the latter with what a forest that learnt the former's ranks expects. The larger one of ranks
/// and values: where a search has stayed with what is good, ranks are mostly those of noise, and
/// values tell its first trials from the others.
double Foreseen(const Trials& learnt, const Trials& asked, base::RandomStream& random) {
  model::RandomForestOptions options;
  options.trees = kTrees;
  options.scale = model::ObjectiveScale::kLinear;
  model::RandomForest forest(options);
  forest.Fit(learnt.rows, learnt.ranks, random);
  VectorXd mean, variance;
  forest.Predict(asked.rows, mean, variance);
  return std::max(Correlation(mean, asked.ranks), Correlation(mean, asked.values));
}

}  // namespace

double ProbabilityOfLearnable(const EarlierTask& task) {
  base::RandomStream random(1);
  const Trials all = Drawn(task, random);
  const Index count = all.ranks.size(), half = count / 2;
  double log_odds = kPriorLogOdds;
  if (half > 1) {
    const Trials first = all.Part(0, half), second = all.Part(half, count - half);
    const double found = (Foreseen(first, second, random) + Foreseen(second, first, random)) / 2;
    // Fisher's transformation: atanh(r) is normal around that of the true correlation.
    const double precision = static_cast<double>(count - 3), expected = std::atanh(kLearnable);
    log_odds +=
        precision * expected * (std::atanh(std::clamp(found, -0.999, 0.999)) - expected / 2);
  }
  return 1 / (1 + std::exp(-log_odds));
}

void TakeOutNoise(TransferOptions& options) {
  std::erase_if(options.tasks, [&](const EarlierTask& task) {
    if (ProbabilityOfLearnable(task) >= 0.5) return false;
    options.left_out.push_back(task.name);
    return true;
  });
}

}  // namespace bayloom::optimizer

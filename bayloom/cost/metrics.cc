// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bayloom::cost {
namespace {

/// Positions of the values, largest first; equal values keep their order.
std::vector<int> DescendingOrder(std::span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
  return order;
}

/// Rank of each value from 0, ties sharing their mean.
std::vector<double> Ranks(std::span<const double> values) {
  const std::vector<int> order = DescendingOrder(values);
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = 0.5 * static_cast<double>(begin + end - 1);
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = mean;
    begin = end;
  }
  return ranks;
}

}  // namespace

double RootMeanSquareError(std::span<const double> predicted, std::span<const double> truth) {
  if (truth.empty()) return 0;
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    const double error = predicted[i] - truth[i];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

double SpearmanCorrelation(std::span<const double> predicted, std::span<const double> truth) {
  const std::vector<double> a = Ranks(predicted), b = Ranks(truth);
  const double mean = 0.5 * (static_cast<double>(a.size()) - 1);
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
    ab += (a[i] - mean) * (b[i] - mean);
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double PairwiseAccuracy(std::span<const double> predicted, std::span<const double> truth) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t j = i + 1; j < truth.size(); ++j) {
      if (truth[i] == truth[j]) continue;
      pairs += 1;
      if (predicted[i] == predicted[j]) {
        right += 0.5;
      } else if ((predicted[i] > predicted[j]) == (truth[i] > truth[j])) {
        right += 1;
      }
    }
  }
  return pairs == 0 ? 0.5 : right / pairs;
}

double TopKRecall(std::span<const double> predicted, std::span<const double> truth, int k) {
  const size_t top = std::min(static_cast<size_t>(k), truth.size());
  if (top == 0) return 0;
  std::vector<int> best = DescendingOrder(truth), chosen = DescendingOrder(predicted);
  best.resize(top);
  chosen.resize(top);
  const auto hits = std::count_if(chosen.begin(), chosen.end(), [&](int item) {
    return std::find(best.begin(), best.end(), item) != best.end();
  });
  return static_cast<double>(hits) / static_cast<double>(top);
}

double TopKScore(std::span<const double> predicted, std::span<const double> truth, int k) {
  if (truth.empty()) return 0;
  const double best = *std::max_element(truth.begin(), truth.end());
  if (best <= 0) return 0;
  const std::vector<int> chosen = DescendingOrder(predicted);
  double found = 0;
  for (size_t i = 0; i < std::min(static_cast<size_t>(k), chosen.size()); ++i) {
    found = std::max(found, truth[chosen[i]]);
  }
  return found / best;
}

}  // namespace bayloom::cost

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/score_loss.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

namespace bayloom::cost {

ScoreLoss SquaredLoss(std::span<const float> scores, std::span<const double> labels) {
  ScoreLoss loss;
  const auto count = static_cast<double>(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    const double sigmoid = 1 / (1 + std::exp(-static_cast<double>(scores[i])));
    const double error = sigmoid - labels[i];
    loss.value += error * error / count;
    loss.gradient.push_back(static_cast<float>(2 * error * sigmoid * (1 - sigmoid) / count));
  }
  return loss;
}

ScoreLoss LambdaRankLoss(std::span<const float> scores, std::span<const double> labels) {
  const size_t count = scores.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<double> gains(count), discounts(count), ideal;
  for (size_t i = 0; i < count; ++i) gains[i] = std::exp2(labels[i]) - 1;
  for (size_t rank = 0; rank < count; ++rank) {
    discounts[order[rank]] = 1 / std::log2(static_cast<double>(rank) + 2);
  }
  ideal = gains;
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  double most = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    most += ideal[rank] / std::log2(static_cast<double>(rank) + 2);
  }
  ScoreLoss loss{0, std::vector<float>(count, 0.0f)};
  if (most <= 0) return loss;
  // By descending label: every pair once.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return labels[a] > labels[b]; });
  std::vector<double> gradient(count, 0);
  for (size_t a = 0; a < count; ++a) {
    const size_t i = order[a];
    for (size_t b = a + 1; b < count; ++b) {
      const size_t j = order[b];
      if (labels[i] <= labels[j]) continue;
      const double weight = std::abs(discounts[i] - discounts[j]) * (gains[i] - gains[j]) / most;
      const double wrong = std::exp(std::min(50.0f, scores[j] - scores[i]));
      loss.value += weight * std::log1p(wrong) / std::numbers::ln2;
      const double slope = weight * wrong / (1 + wrong) / std::numbers::ln2;
      gradient[i] -= slope;
      gradient[j] += slope;
    }
  }
  for (size_t i = 0; i < count; ++i) loss.gradient[i] = static_cast<float>(gradient[i]);
  return loss;
}

}  // namespace bayloom::cost

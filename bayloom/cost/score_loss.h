// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

namespace bayloom::cost {

/// A loss of scores against labels in [0, 1], and its derivative by each score.
struct ScoreLoss {
  double value = 0;
  std::vector<float> gradient;
};

/// The mean squared error of sigmoid(score) against the label.
ScoreLoss SquaredLoss(std::span<const float> scores, std::span<const double> labels);

/// LambdaRank as TenSet has it (Zheng et al. 2021): with ranks i by score, D_i = log2(1 + i) and
/// G_i = (2^label - 1) / maxDCG, the sum over pairs with label_i > label_j of
///
///     |1 / D_i - 1 / D_j| |G_i - G_j| log2(1 + exp(score_j - score_i)).
///
/// The weights of the pairs are taken as constants by the derivative.
ScoreLoss LambdaRankLoss(std::span<const float> scores, std::span<const double> labels);

}  // namespace bayloom::cost

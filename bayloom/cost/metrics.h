// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

namespace bayloom::cost {

/// How well predicted scores agree with true ones. Higher is better for both; only differences
/// and order matter to all but RootMeanSquareError.

double RootMeanSquareError(std::span<const double> predicted, std::span<const double> truth);

/// Spearman's rank correlation; ties share their mean rank. 0 when either side is constant.
double SpearmanCorrelation(std::span<const double> predicted, std::span<const double> truth);

/// Share of the pairs with different truth that are predicted in the right order; a predicted tie
/// counts half. 0.5 (a coin's answer) when there is no such pair.
double PairwiseAccuracy(std::span<const double> predicted, std::span<const double> truth);

/// Share of the k truly best that are among the k best predicted (k is cut to the number of
/// items). Ties are broken by position.
double TopKRecall(std::span<const double> predicted, std::span<const double> truth, int k);

/// The best truth among the k best predicted, over the best truth of all: TenSet's top-k score of
/// one task (Zheng et al. 2021, sec. 5) when truths are throughputs. 0 when no truth is positive.
double TopKScore(std::span<const double> predicted, std::span<const double> truth, int k);

}  // namespace bayloom::cost

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::acquisition {

/// What is gained by evaluating a point whose value is predicted to be normal with this mean and
/// variance. Everything minimizes; more gain is better.
///
/// With the variance of the noise-free objective, measuring a good point once more is worth nothing
/// (Hellsten et al. 2023, sec. 3.3). Where no point is measured twice, what a model takes for noise
/// is mostly what it does not know about each of them, and belongs to the variance.

/// E[max(best - f, 0)] = s (z Phi(z) + phi(z)) with z = (best - mean) / s, s = sqrt(variance).
double ExpectedImprovement(double mean, double variance, double best);

/// The logarithm of it, exact where the improvement itself underflows: far from the best known,
/// configurations still compare. -infinity where improvement is impossible.
double LogExpectedImprovement(double mean, double variance, double best);

/// P[f < best] = Phi(z).
double ProbabilityOfImprovement(double mean, double variance, double best);
double LogProbabilityOfImprovement(double mean, double variance, double best);

/// mean - sqrt(beta * variance): the value one may hope for.
double LowerConfidenceBound(double mean, double variance, double beta);

/// beta = log(2 t + 1) / 8 after t trials, slowly more curious (BaCO's schedule; its square root
/// multiplies the standard deviation).
double ConfidenceBeta(int trials);

}  // namespace bayloom::acquisition

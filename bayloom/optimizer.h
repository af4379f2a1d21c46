// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module optimizer: ask/tell over a space: random, annealing, genetic, bandit ensemble, bayesian
/// with a Gaussian process or a forest; transfer from earlier tasks; sensitivity.
///
///     const auto optimizer = MakeOptimizer("bayesian", space, {.seed = 1});
///     for (int trial = 0; trial < 40; ++trial) {
///       for (const Configuration& c : optimizer->Ask(1)) optimizer->Tell(c, Evaluate(c));
///     }
///
/// Reading order: `optimizer.h` (ask and tell); `random_search.h`, the smallest one;
/// `bayes/bayesian_search.h` with `bayes/objective_model.h` and `bayes/candidate_pool.h`;
/// `techniques/heuristic_search.h` and its variants; `transfer.h`.

#include "bayloom/optimizer/contexts.h"
#include "bayloom/optimizer/feature_options.h"
#include "bayloom/optimizer/local_search.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/optimizer/random_search.h"
#include "bayloom/optimizer/sensitivity.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/optimizer/transfer_data.h"
#include "bayloom/space.h"
#include "bayloom/trial.h"

namespace bayloom {

using optimizer::MakeOptimizer;
using optimizer::Optimizer;
using optimizer::OptimizerOptions;

}  // namespace bayloom

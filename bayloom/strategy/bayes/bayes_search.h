// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {

/// "bayes": candidates are bred as in evolutionary search, but what is thought of them combines
/// two opinions, and the batch is chosen one by one, each under the assumption that those before
/// turn out as expected.
///
///     utility = (1 - w) score + w (estimate + mean) + c deviation
///
/// One opinion is the cost model's score. The other, the only one while scores have nothing to do
/// with what is known, is the time that a program's loops make one expect (EstimateTime), corrected
/// by how far that held in its design space (SpaceFactors) and by a surrogate of this task alone
/// (TaskModel), which also says how uncertain that is. Both count a program that failed as one of
/// no throughput. The opinion's weight w and the exploration weight c shrink with every program
/// measured.
///
/// A task's first batch has the two likeliest programs of each design space that promises half of
/// the best throughput, half of the batch at most.
///
/// With objectives besides the time half of each batch is bred for compromises,
/// from the measured programs on the front: by the product utility^(1 - v) share^v, whose objective
/// and weight v are drawn for each batch, as ParEGO (Knowles 2006) draws its weights. The
/// other half goes by the utility alone.
std::unique_ptr<SearchStrategy> MakeBayesSearch(StrategyOptions options);

}  // namespace bayloom::strategy

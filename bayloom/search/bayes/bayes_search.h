#pragma once

#include <memory>

#include "bayloom/search/strategy.h"

namespace bayloom {

/// "bayes": candidates are bred as in evolutionary search, but what is thought of them combines
/// the cost model with a surrogate of this task alone (TaskModel), and the batch is chosen one by
/// one, each under the assumption that those before turn out as expected.
///
///     utility = (1 - w) score + w mean + c deviation
///
/// w grows with the programs measured, and is 1 while the scores have nothing to do with them; the
/// curiosity c shrinks.
std::unique_ptr<SearchStrategy> MakeBayesSearch(StrategyOptions options);

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {

/// The bayesian search of Rocke 2024, chapter 3, called `name`.
///
/// A batch begins with input schedules, the fastest measured and the best-scored of fresh samples.
/// In groups of those that differ in tiles and categories only, an optimizer of the scores each
/// proposes decisions; then numbers of parallel jobs and compute locations of the best programs
/// are tried. What an optimizer learns ends with the batch: scores change with every batch, and a
/// resumed session could not know the old ones.
std::unique_ptr<SearchStrategy> MakeThesisSearch(std::string name, StrategyOptions options);

}  // namespace bayloom::strategy

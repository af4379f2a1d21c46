// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "bayloom/experimental/strategy/rocke2024_options.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::experimental {

/// The Bayesian search of Rocke 2024, chapter 3, called `name`.
///
/// A batch begins with input schedules, the fastest measured and the best-scored of fresh samples.
/// In groups of those that differ in tiles and categories only, an optimizer of the scores each
/// proposes decisions; then numbers of parallel jobs and compute locations of the best programs
/// are tried. What an optimizer learns ends with the batch: scores change with every batch, and a
/// resumed session could not know the old ones.
std::unique_ptr<strategy::SearchStrategy> MakeRocke2024Search(std::string name,
                                                              strategy::StrategyOptions options,
                                                              const Rocke2024Options& rocke = {});

/// Registers the strategy "rocke2024", whose words change `defaults` (ParseRocke2024Words), in
/// place of what had the name before.
void RegisterRocke2024(const Rocke2024Options& defaults = {});

}  // namespace bayloom::experimental

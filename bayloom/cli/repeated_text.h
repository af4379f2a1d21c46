// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>

#include "bayloom/measure/paired_ratio.h"
#include "bayloom/search/scenario_search.h"

namespace bayloom::cli {

/// What evaluating the best again has shown, as a table; empty where nothing was.
std::string RepeatedText(std::span<const search::RepeatedConfiguration> repeated);

/// How many times as good as the baseline the best is, both evaluated in turns; nullopt where they
/// were not, or one failed.
std::optional<measure::PairedRatio> GainInTurns(
    const search::Study& study, std::span<const search::RepeatedConfiguration> repeated);

/// How much better the best value is than the default configuration, or the first that worked.
std::string GainText(const search::ScenarioSearch& search,
                     std::span<const search::RepeatedConfiguration> repeated);

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "bayloom/report/table.h"
#include "bayloom/search/study.h"

namespace bayloom::report {

/// A Pareto set, one trial a row: its number, the objectives, the parameters.
Table ParetoTable(const search::Scenario& scenario, std::span<const search::StudyTrial> set);

/// The same for programs: [{"trial", "values": {objective: value}, "configuration"}].
nlohmann::json ParetoJson(const search::Scenario& scenario,
                          std::span<const search::StudyTrial> set);

/// [{"name", "goal"}].
nlohmann::json ObjectivesJson(const search::Scenario& scenario);

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "bayloom/external/study.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// A Pareto set, one trial a row: its number, the objectives, the parameters.
Table ParetoTable(const external::Scenario& scenario, std::span<const external::StudyTrial> set);

/// The same for programs: [{"trial", "values": {objective: value}, "configuration"}].
nlohmann::json ParetoJson(const external::Scenario& scenario,
                          std::span<const external::StudyTrial> set);

/// [{"name", "goal"}].
nlohmann::json ObjectivesJson(const external::Scenario& scenario);

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "bayloom/search/study.h"

namespace bayloom::report {

/// Results of searches for programs and people.

/// {"scenario", "objective", "goal", "trials", "feasible_trials", "seconds", "best": {"value",
/// "trial", "configuration"}}; "best" is null while nothing worked. Of several objectives, it is
/// the best in the first one, and there are "objectives" and "front", as in pareto_table.h.
nlohmann::json SearchSummary(const search::Scenario& scenario, const search::Study& study);

/// One row a trial: its number, every parameter (empty where it is inactive), the value of each
/// objective (empty where there is none), the verdict, the reason, the seconds of searching until
/// it ended. As RFC 4180 has it.
std::string TrialsCsv(const search::Scenario& scenario, std::span<const search::StudyTrial> trials);

/// The trials as a recorded space in the T4 format of Kernel Tuner and the FAIR benchmark hub: what
/// `recorded` evaluators and `bayloom-simulate` read.
nlohmann::json TrialsT4(const search::Scenario& scenario,
                        std::span<const search::StudyTrial> trials);

/// How many configurations a space has: "4,362", "1.4e+11", "1e+431", "infinitely many".
std::string SizeText(const space::Space& space);

/// The values of a configuration's active parameters, "name = value" in one line each.
std::string ConfigurationText(const space::Space& space, const space::Configuration& configuration);

}  // namespace bayloom::report

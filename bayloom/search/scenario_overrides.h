// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/search/scenario.h"

namespace bayloom::search {

// Ways of evaluating that replace what a scenario says. Each throws InputError.

/// A command line, split as a shell would, with holes for values. It runs where this process does;
/// what else the scenario's evaluator says about running (timeout, answer) is kept.
void OverrideCommand(const std::string& command, Scenario& scenario);

/// A recorded space; the measurement is the one named as the objective if the scenario names one.
void OverrideRecorded(const std::string& path, Scenario& scenario);

}  // namespace bayloom::search

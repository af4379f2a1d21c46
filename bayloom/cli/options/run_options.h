// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bayloom/trial/budget.h"

namespace CLI {
class App;
}

namespace bayloom::cli {

/// The option --scheduler, whose default is the same in all commands.
void AddSchedulerOption(CLI::App& command, std::string& scheduler, const std::string& description);

/// Whether a stop was asked for (StopRequested), for code that ends in order within kStopSeconds.
bool StopSeen();

/// The budget that --trials and --time give, ended by Ctrl-C, which is caught from now on. Throws
/// InputError for a text that is no duration.
trial::Budget MakeBudget(std::optional<int64_t> trials, const std::string& time);

/// The share of a minute that a rate such as "0.5%/min", "2%/h" or "0.5%" (a minute) means. Throws
/// InputError, beginning with `name`, for anything else.
double ParseGainRate(const std::string& text, const std::string& name);

/// Why a run ended, for people, with how to go on.
std::string DescribeEnd(trial::StopReason reason);

/// Throws SystemError with the machine's reason if trials could not be carried out.
void ThrowIfLost(trial::StopReason reason, const std::string& lost);

}  // namespace bayloom::cli

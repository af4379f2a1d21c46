// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/report/run_digest.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// A run without tasks (record::HasTasks) for people and programs.

/// "12 trials", or "12 tiles of fused layers".
std::string CountText(const RunDigest& digest);
/// "2 crash, 1 timeout", or "none".
std::string FailureText(const RunDigest& digest);
/// A text of the run's options; empty where there is none of this name.
std::string OptionOf(const record::RunRecord& run, const char* name);
/// Who chose the candidates: the optimizer or mapper, or the strategy of a tuning; empty if that is
/// not known.
std::string ProposerOf(const record::RunRecord& run);
/// "minimize", or "maximize".
std::string GoalOf(const record::RunRecord& run);

/// The improvements: trial, time, value and candidate.
Table ImprovementTable(const RunDigest& digest);
/// Everything, for programs.
nlohmann::json ToJson(const RunDigest& digest);

}  // namespace bayloom::report

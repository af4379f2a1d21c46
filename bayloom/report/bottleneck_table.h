// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "bayloom/accelerator/bottlenecks.h"
#include "bayloom/report/kept_result.h"

namespace bayloom::report {

/// Why mappings cost what they do: each part's share of energy and delay, and what would change if
/// a memory were twice as large or as fast, in the order of what that saves of the objective.
std::vector<KeptResult::Part> WhyParts(std::span<const accelerator::PartCost> parts,
                                       std::span<const accelerator::Doubling> doublings,
                                       mapspace::MapObjective objective);

/// {"parts": [{"name", "energy_pj", "cycles", "bound_cycles"}], "doubled": [{"part", "doubled":
/// "capacity" or "bandwidth", "energy_pj", "cycles"}]}; the first of the latter is the accelerator
/// as it is, whose "part" is null.
nlohmann::json WhyJson(std::span<const accelerator::PartCost> parts,
                       std::span<const accelerator::Doubling> doublings);

}  // namespace bayloom::report

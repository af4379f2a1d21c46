// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/accelerator/design_search.h"
#include "bayloom/report/run_progress.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// A line for every better design: the last and the best value.
ProgressOptions DesignProgress(const accelerator::DesignSearch& search);

/// Designs with their parameters, area, energy and cycles of all networks, and the objective.
Table DesignTable(const accelerator::DesignSearch& search,
                  std::span<const search::StudyTrial> designs);

/// An architecture from elsewhere that was evaluated in the same way.
struct ComparedDesign {
  std::string name;
  trial::Outcome outcome;
};

/// Such architectures beside the best design: how many times its value they have.
Table ComparisonTable(std::span<const ComparedDesign> compared, const std::string& objective,
                      double best);

/// {"objective", "technology", "networks": [{"name", "layers"}], "trials", "feasible_trials",
/// "seconds", "seconds_per_design", "best": design or null, "designs": [design], "front": [design],
/// "compared": [{"name", "value", "area_mm2", "energy_pj", "cycles"}]} with designs as {"trial",
/// "value", "parameters", "area_mm2", "energy_pj", "cycles"}. Without a value: {"name", "reason"}.
nlohmann::json ToJson(const accelerator::DesignSearch& search, int designs,
                      std::span<const ComparedDesign> compared);

/// Seconds that evaluating a design within the limits took, in the median; NaN without any.
double SecondsPerDesign(const accelerator::DesignSearch& search);

}  // namespace bayloom::report

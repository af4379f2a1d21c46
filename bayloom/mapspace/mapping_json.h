// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"

namespace bayloom::mapspace {

/// {"compact": "L3[WIO] ...", "levels": [{"name", "keep": [names], "temporal": {dimension: factor},
/// "order": [innermost first], "spatial": {dimension: factor}, "along_y": [dimensions]}, ...]},
/// innermost level first; factors of 1 are left out.
nlohmann::json ToJson(const Mapping& mapping, const Problem& problem,
                      const Architecture& architecture);

/// The mapping whose "levels" these are. Fails, saying why, for anything else.
Result<Mapping> MappingFromJson(const nlohmann::json& levels, const Problem& problem,
                                const Architecture& architecture);

/// {"energy_pj", "pj_per_mac", "cycles", "utilization", "macs", "levels": [{"name", "instances",
/// "cycles", "tensors": {name: {"reads", "fills", "updates", "tile_words", "energy_pj"}}}]}.
nlohmann::json ToJson(const Evaluation& evaluation, const Mapping& mapping, const Problem& problem,
                      const Architecture& architecture);

/// {"computes", "multipliers", "compute_cycles", "levels"}: what becomes of all actions; ranks
/// outermost first.
nlohmann::json ToJson(const SparseEvaluation& sparse, const Mapping& mapping,
                      const Problem& problem, const Architecture& architecture);

}  // namespace bayloom::mapspace

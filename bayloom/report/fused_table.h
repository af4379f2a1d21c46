// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/accelerator/fused_mapping.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// The groups of a run's plan: operators, tile, the level where tensors between them are, whose
/// weights stay there for all tiles, and energy, cycles and words outside of the chip beside those
/// of the same operators one by one.
Table GroupTable(const accelerator::FusedMapping& run);

/// Energy, cycles, their product and words outside of the chip of all groups, and as a part of what
/// layer by layer costs.
std::string FusedTotals(const accelerator::FusedMapping& run);

/// {"groups": [{"operators", "tile": [{"axis", "size", "cached"}], "tiles", "level",
/// "resident_weights", "peak_words", "energy_pj", "cycles", "operations", "dram_reads",
/// "dram_writes", "layer_by_layer": {...}}], "totals", "layer_by_layer", "tiles" (known),
/// "tiles_searched" (since the run was resumed), "evaluations", "seconds"}.
nlohmann::json ToJson(const accelerator::FusedMapping& run);

/// "5c x 28c": the sizes along the tiled axes, outermost first; c where overlaps are cached, r
/// where they are computed again. "whole" for one tile, "-" for a layer by itself.
std::string TileText(const accelerator::FusedMapping& run, const mapspace::PlannedGroup& planned);
/// [{"axis", "size", "cached"}].
nlohmann::json TileJson(const mapspace::DepthFirstTiling& tiling);
/// The only operator of a group, or the first and the last, and how many there are.
std::string OperatorsText(const accelerator::FusedMapping& run, const mapspace::FusedGroup& group);
/// Of all of them.
nlohmann::json OperatorNames(const accelerator::FusedMapping& run,
                             const mapspace::FusedGroup& group);

}  // namespace bayloom::report

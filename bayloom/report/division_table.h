// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/accelerator/fused_mapping.h"
#include "bayloom/mapspace/cores/division_search.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// How cores share the groups of a run: the way, the cores that have work, the tile or the axes of
/// parts, energy and cycles beside those on one core, words of the memory and those from core to
/// core, and links passed.
Table DivisionTable(const accelerator::FusedMapping& run);

/// Energy, the network's part of it, cycles and words of all groups, beside one core.
std::string DivisionTotals(const accelerator::FusedMapping& run);

/// {"groups": [{"operators", "way", "cores", "tile": [{"axis", "size", "cached"}], "axes", "tiles",
/// "level", "resident_weights", "cost", "one_core"}], "totals": {"cores", "one_core"}}. "axes" are
/// those of parts, of every operator, where the way is "spread". Costs are {"energy_pj",
/// "network_energy_pj", "cycles", "operations", "dram_reads", "dram_writes", "peak_words",
/// "network_words_delivered", "core_words", "network_word_hops"}.
nlohmann::json DivisionsJson(const accelerator::FusedMapping& run);

}  // namespace bayloom::report

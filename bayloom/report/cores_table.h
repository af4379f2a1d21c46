// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/accelerator/multicore_mapping.h"
#include "bayloom/mapspace/cores/pipeline.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// The layers of a run: how each is divided, on how many cores, energy and cycles beside those on
/// one core, and words of the memory and of the network.
Table CoresTable(const accelerator::MulticoreMapping& run);

/// Energy by part, cycles, words; as a part of what one core takes.
std::string CoresTotals(const accelerator::MulticoreMapping& run);

/// {"layers": [{"name", "problem", "count", "split": [{"dimension", "parts"}], "cores", "part",
/// "mapping", "cost", "one_core"}], "totals": {"cores", "one_core"}, "splits_searched" (since the
/// run was resumed), "network"}. Costs are
/// {"energy_pj", "core_energy_pj", "network_energy_pj", "memory_energy_pj", "cycles",
/// "memory_reads", "memory_writes", "network_words_sent", "network_words_delivered",
/// "network_word_hops"}.
nlohmann::json ToJson(const accelerator::MulticoreMapping& run);

/// A count that is summed up as a real number, as FormatCount shows counts.
std::string CountText(double words);

/// The stages of fused groups on cores.
Table StageTable(const mapspace::Pipeline& pipeline, const mapspace::GroupPlan& plan,
                 const mapspace::FusedNetwork& network);
/// Cycles between two inputs and of one, energy and words of the network.
std::string PipelineTotals(const mapspace::Pipeline& pipeline, const mapspace::GroupPlan& plan);

/// {"stages": [{"core", "groups": [begin, end], "cycles"}], "interval_cycles", "latency_cycles",
/// "energy_pj", "network_energy_pj", "network_words", "network_word_hops"}.
nlohmann::json ToJson(const mapspace::Pipeline& pipeline);

}  // namespace bayloom::report

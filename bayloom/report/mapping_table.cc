// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/mapping_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/report/format.h"

namespace bayloom::report {

Table TrafficTable(const mapspace::Evaluation& evaluation, const mapspace::Mapping& mapping,
                   const mapspace::Problem& problem, const mapspace::Architecture& architecture) {
  Table table({"level", "tensor", "instances", "tile", "reads", "fills", "updates", "pJ/MAC"});
  const auto count = [](int64_t number) { return Cell(number, FormatCount(number)); };
  const auto energy = [&](double pj) {
    const double per_mac = pj / static_cast<double>(evaluation.macs);
    return Cell(per_mac, fmt::format("{:.3f}", per_mac));
  };
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    const mapspace::LevelTraffic& level = evaluation.levels[l];
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const mapspace::TensorTraffic& traffic = level.tensors[t];
      table.AddRow({architecture.levels[l].name, problem.tensors[t].name, count(level.instances),
                    count(traffic.tile_words), count(traffic.reads), count(traffic.fills),
                    count(traffic.updates), energy(traffic.energy_pj)});
    }
  }
  return table;
}

std::string EvaluationLine(const mapspace::Evaluation& evaluation) {
  return fmt::format(
      "{}: {:.4g} pJ per multiply-accumulate, {} cycles, {:.1f} % of the multipliers",
      FormatEnergy(evaluation.energy_pj), evaluation.EnergyPerMac(), FormatCount(evaluation.cycles),
      100 * evaluation.utilization);
}

namespace {

/// "4+0+12": actual, gated and skipped.
Cell ActionsCell(const mapspace::ActionCounts& counts) {
  return {counts.actual, fmt::format("{}+{}+{}", FormatCount(counts.actual),
                                     FormatCount(counts.gated), FormatCount(counts.skipped))};
}

/// "UOP CP", outermost rank first; "-" for plain words.
std::string FormatName(const mapspace::StorageLevel& level, const std::string& tensor) {
  for (const mapspace::TensorFormat& format : level.sparsity.formats) {
    if (format.tensor != tensor) continue;
    std::string name;
    for (const mapspace::RankSpec& rank : format.ranks) {
      name += fmt::format("{}{}", name.empty() ? "" : " ", mapspace::ToString(rank.format));
    }
    return name;
  }
  return "-";
}

double MetadataBits(const mapspace::SparseTraffic& traffic) {
  double bits = 0;
  for (const mapspace::RankTraffic& rank : traffic.ranks) {
    for (const mapspace::RankActions* actions : {&rank.reads, &rank.fills, &rank.updates}) {
      bits += static_cast<double>(actions->actual.metadata) * rank.metadata_bits +
              static_cast<double>(actions->actual.payload) * rank.payload_bits;
    }
  }
  return bits;
}

}  // namespace

Table SparseTable(const mapspace::SparseEvaluation& sparse, const mapspace::Mapping& mapping,
                  const mapspace::Problem& problem, const mapspace::Architecture& architecture) {
  Table table({"level", "tensor", "format", "density", "words", "metadata",
               "reads (+gated+skipped)", "fills", "updates", "metadata moved"});
  const auto bits = [](double number) {
    return Cell(number, FormatCount(static_cast<int64_t>(std::min(number, 0x1p62))) + " b");
  };
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const mapspace::SparseTraffic& traffic = sparse.levels[l][t];
      const std::string& tensor = problem.tensors[t].name;
      table.AddRow({architecture.levels[l].name, tensor, FormatName(architecture.levels[l], tensor),
                    Cell(traffic.density, fmt::format("{:.3g}", traffic.density)),
                    Cell(traffic.occupancy, FormatCount(traffic.occupancy)),
                    bits(static_cast<double>(traffic.metadata_bits)), ActionsCell(traffic.reads),
                    ActionsCell(traffic.fills), ActionsCell(traffic.updates),
                    bits(MetadataBits(traffic))});
    }
  }
  return table;
}

std::string ComputesLine(const mapspace::SparseEvaluation& sparse) {
  return fmt::format(
      "multiplications: {} of {}, {} gated, {} skipped by the multipliers, {} not asked for",
      FormatCount(sparse.computes.actual), FormatCount(sparse.computes.dense),
      FormatCount(sparse.computes.gated), FormatCount(sparse.computes.skipped),
      FormatCount(sparse.computes.Absent()));
}

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/mapping_table.h"

#include <fmt/format.h>

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

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lesson 5: a matrix product on an accelerator: the best mapping that a search finds, and what the
// analytical model says of it.

#include <fmt/core.h>

#include "bayloom/accelerator.h"
#include "bayloom/mapspace.h"

using namespace bayloom;

int main() {
  const Problem problem = ParseProblem("matmul:64,128,512");
  const Architecture architecture = ShippedArchitecture("gemmini");

  MapOptions options;
  options.search.run.budget.trials = 2000;
  options.search.objectives = {mapspace::MapObjective::kEnergyDelay};
  NetworkMapping run({{.name = "product", .problem = problem}}, architecture, {}, options);
  run.Run();

  const NetworkMapping::Layer& layer = run.layers().front();
  const mapspace::MapperResult& result = layer.search->result();
  if (!result.best) return 1;
  const mapspace::Evaluation evaluation = layer.model->Evaluate(*result.best);
  fmt::print("{}\n{:.3f} pJ per multiply-accumulate, {} cycles, {:.0f} % of the multipliers\n",
             mapspace::PrintLoopNest(*result.best, problem, architecture),
             evaluation.EnergyPerMac(), evaluation.cycles, 100 * evaluation.utilization);
  return 0;
}

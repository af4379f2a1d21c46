// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/transfer.h"

namespace bayloom::mapspace {

/// gemmini with a scratchpad of another size.
inline Architecture WithScratchpad(int64_t words) {
  Architecture architecture = ShippedArchitecture("gemmini");
  architecture.name = "gemmini-" + std::to_string(words);
  architecture.levels[2].words = words;
  return architecture;
}

inline EarlierMappings RandomMappings(const Problem& problem, const Architecture& architecture,
                                      int64_t count) {
  const Mapspace mapspace(problem, architecture);
  const AnalyticalModel model(problem, architecture);
  EarlierMappings earlier{architecture.name, problem, architecture, {}, {}};
  base::RandomStream random(3);
  while (std::ssize(earlier.mappings) < count) {
    Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping) || !model.Fits(mapping)) continue;
    earlier.mappings.push_back(mapping);
    earlier.values.push_back(model.Evaluate(mapping).EnergyPerMac());
  }
  return earlier;
}

/// After searches of two architectures like it, 12 evaluations find what 60 random mappings do.
inline void ExpectToBeginWhereRandomMappingsEnd(const std::string& method) {
  const Problem problem = MatmulProblem(512, 512, 512);
  const Mapspace target(problem, ShippedArchitecture("gemmini"));
  const AnalyticalModel model(problem, target.architecture());
  const auto evaluator = MakeModelEvaluator(model, {MapObjective::kEnergy});
  MapperOptions options;
  options.run.budget.trials = 12;
  for (const int64_t words : {1 << 15, 1 << 20}) {
    options.earlier.push_back(RandomMappings(problem, WithScratchpad(words), 60));
  }
  const EarlierMappings alike = RandomMappings(problem, target.architecture(), 60);
  const double best_of_sixty = std::ranges::min(alike.values);
  options.transfer = method;
  const MapperResult result = RunMapper("bayesian", target, model, *evaluator, options);
  EXPECT_LE(result.value, best_of_sixty) << method;
}

}  // namespace bayloom::mapspace

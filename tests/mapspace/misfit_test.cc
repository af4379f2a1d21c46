// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/misfit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Registers of so many words at each of `places` multipliers, a buffer, and a memory.
Architecture Chip(int words, int places, const std::string& constraints) {
  return ParseArchitectureYaml(
      fmt::format("arch:\n"
                  "  arithmetic: {{instances: {1}, meshX: {1}}}\n"
                  "  storage:\n"
                  "    - {{name: Registers, entries: {0}, instances: {1}, meshX: {1}}}\n"
                  "    - {{name: Buffer, entries: {2}, instances: 1}}\n"
                  "    - {{name: DRAM, technology: DRAM}}\n"
                  "  constraints: [{3}]\n",
                  words, places, 4 * words, constraints),
      "chip.yaml");
}

std::string Reason(const Problem& problem, const Architecture& chip) {
  return WhyNoneFits(Mapspace(problem, chip), AnalyticalModel(problem, chip));
}

TEST(Misfit, NamesTheLimitThatLeavesNone) {
  const Problem product = MatmulProblem(32, 8, 8);
  const std::string dimension = product.dimensions[0];
  const auto reason = [&](int words, int places, const std::string& constraints) {
    return Reason(product, Chip(words, places, fmt::format(fmt::runtime(constraints), dimension)));
  };
  EXPECT_EQ(reason(64, 16, ""), "");
  EXPECT_THAT(reason(64, 16, "{{target: Buffer, type: spatial, factors: {0}=32}}"),
              AllOf(HasSubstr("Buffer feeds 16x1"), HasSubstr(dimension + "=32")));
  EXPECT_THAT(
      reason(64, 16,
             "{{target: Buffer, type: spatial, factors: {0}<=8}},"
             "{{target: Buffer, type: temporal, factors: {0}=1}},"
             "{{target: Registers, type: temporal, factors: {0}=1}},"
             "{{target: DRAM, type: temporal, factors: {0}=1}}"),
      AllOf(HasSubstr(dimension), HasSubstr("32"), HasSubstr("at most 8 in space at Buffer")));
  EXPECT_THAT(reason(16, 16,
                     "{{target: Registers, type: temporal, factors: {0}=16}}, {{target: Registers, "
                     "type: bypass, keep: [Inputs, Weights, Outputs]}}"),
              AllOf(HasSubstr("Registers has 16 words"), HasSubstr(dimension + "=16")));
  EXPECT_THAT(reason(64, 16,
                     "{{target: Buffer, type: temporal, factors: {0}=8}},"
                     "{{target: Buffer, type: temporal, factors: {0}<=4}}"),
              HasSubstr(dimension + "=8 and for " + dimension + "<=4"));
}

/// A constraint on a random factor.
std::string RandomConstraint(base::RandomStream& random, const Problem& problem) {
  static const char* const kLevels[] = {"Registers", "Buffer", "DRAM"};
  const std::string& dimension =
      problem.dimensions[static_cast<size_t>(random.UniformInt(problem.DimensionCount()))];
  return fmt::format("{{target: {}, type: {}, factors: {}{}{}}}", kLevels[random.UniformInt(3)],
                     random.UniformInt(3) == 0 ? "spatial" : "temporal", dimension,
                     random.UniformInt(2) == 0 ? "=" : "<=", 1 << random.UniformInt(3));
}

TEST(Misfit, WhereThereIsAReasonNoMappingFits) {
  const Problem problem = MatmulProblem(4, 4, 2);
  base::RandomStream random(7);
  int none = 0, explained = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string constraints;
    for (int i = 0; i < 4; ++i) {
      constraints += (i > 0 ? ", " : "") + RandomConstraint(random, problem);
    }
    constraints += ", {target: Registers, type: bypass, keep: [Inputs, Weights, Outputs]}";
    const Architecture chip = Chip(1 << random.UniformInt(4), 4, constraints);
    std::unique_ptr<Mapspace> mapspace;
    try {
      mapspace = std::make_unique<Mapspace>(problem, chip);
    } catch (const InputError&) {
      continue;  // refused before
    }
    const AnalyticalModel model(problem, chip);
    bool fits = false;
    for (int64_t tiling = 0; tiling < mapspace->TilingCount() && !fits; ++tiling) {
      mapspace->ForEachOfTiling(tiling, [&](const Mapping& mapping) {
        fits = model.Fits(mapping);
        return !fits;
      });
    }
    const std::string reason = WhyNoneFits(*mapspace, model);
    if (fits) {
      EXPECT_EQ(reason, "") << constraints;
    }
    none += fits ? 0 : 1;
    explained += reason.empty() ? 0 : 1;
  }
  EXPECT_GT(none, 20);
  EXPECT_GE(10 * explained, 9 * none) << none;
}

TEST(Misfit, WhatFailsTogetherIsCounted) {
  const Problem product = MatmulProblem(32, 8, 8);
  const Architecture chip = Chip(64, 16, "");
  EXPECT_THAT(WhyFewFit(Mapspace(product, chip), AnalyticalModel(product, chip)),
              AllOf(HasSubstr("of 1000 random mappings"), HasSubstr("words do not fit into")));
}

}  // namespace
}  // namespace bayloom::mapspace

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/adapt_mapping.h"

#include <gtest/gtest.h>

#include "bayloom/mapspace/mapper.h"
#include "tests/trial/evaluate_one.h"

namespace bayloom::mapspace {
namespace {

Problem Convolution(int64_t size, int64_t channels) {
  return Conv2dProblem({.r = 3, .s = 3, .p = size, .q = size, .c = channels, .m = 2 * channels});
}

/// A problem's mappings onto an architecture.
struct Ground {
  Ground(const Problem& problem, const char* architecture)
      : mapspace(problem, ShippedArchitecture(architecture)),
        model(problem, mapspace.architecture()) {}

  Mapping DrawFitting(base::RandomStream& random) const {
    Mapping mapping;
    while (!mapspace.SampleTiling(random, mapping) || !model.Fits(mapping)) continue;
    mapspace.ShuffleOrders(random, mapping);
    mapspace.StandardizeOrders(mapping);
    return mapping;
  }

  Mapspace mapspace;
  AnalyticalModel model;
};

TEST(AdaptMapping, GivesMappingsThatFit) {
  for (const char* architecture : {"gemmini", "eyeriss-like", "simba-like"}) {
    const Ground from(Convolution(14, 32), architecture), to(Convolution(56, 24), architecture);
    base::RandomStream random(1);
    for (int i = 0; i < 20; ++i) {
      const auto planted =
          AdaptMapping(from.DrawFitting(random), from.mapspace.problem(), to.mapspace, to.model);
      ASSERT_TRUE(planted.has_value());
      EXPECT_TRUE(CheckMapping(*planted, to.mapspace.problem(), to.mapspace.architecture()).ok());
      EXPECT_TRUE(Satisfies(*planted, to.mapspace.constraints(), to.mapspace.problem(),
                            to.mapspace.architecture()));
      EXPECT_TRUE(to.model.Fits(*planted));
    }
  }
}

TEST(AdaptMapping, ChangesOnlyWhatTheSizesAskFor) {
  const Ground ground(Convolution(14, 32), "eyeriss-like");
  base::RandomStream random(2);
  for (int i = 0; i < 20; ++i) {
    const Mapping mapping = ground.DrawFitting(random);
    EXPECT_EQ(AdaptMapping(mapping, ground.mapspace.problem(), ground.mapspace, ground.model),
              mapping);
  }
  // Twice as large along one dimension: only the outermost factor of that dimension differs.
  const Ground small(MatmulProblem(8, 8, 8), "gemmini"), large(MatmulProblem(16, 8, 8), "gemmini");
  const Mapping mapping = small.DrawFitting(random);
  Mapping expected = mapping;
  expected.levels.back().temporal[0] *= 2;
  large.mapspace.StandardizeOrders(expected);
  EXPECT_EQ(AdaptMapping(mapping, small.mapspace.problem(), large.mapspace, large.model), expected);
}

TEST(AdaptMapping, NeedsDimensionsInCommon) {
  const Ground convolution(Convolution(14, 32), "gemmini"),
      product(MatmulProblem(8, 8, 8), "gemmini");
  base::RandomStream random(3);
  EXPECT_EQ(AdaptMapping(product.DrawFitting(random), product.mapspace.problem(),
                         convolution.mapspace, convolution.model),
            std::nullopt);
}

TEST(AdaptMapping, AnOfferedMappingIsEvaluatedNext) {
  const Ground ground(MatmulProblem(64, 32, 128), "gemmini");
  const auto evaluator = MakeModelEvaluator(ground.model, {MapObjective::kEnergy});
  const MapperResult best = RunMapper("genetic", ground.mapspace, ground.model, *evaluator,
                                      {.run = {.budget = {.trials = 5000}}});
  for (const char* mapper : {"genetic", "bayesian", "forest"}) {
    MapperTask task(mapper, ground.mapspace, ground.model, *evaluator, {});
    const auto try_next = [&](int count) {
      for (Mapping& mapping : task.Propose(count, [] { return false; })) {
        const trial::Outcome outcome = trial::EvaluateOne(*evaluator, mapping);
        task.Tell(std::move(mapping), outcome, 0);
      }
    };
    try_next(3);
    EXPECT_GT(task.result().value, best.value) << mapper;
    task.Suggest(*best.best);
    try_next(1);
    EXPECT_EQ(task.result().evaluations, 4) << mapper;
    EXPECT_EQ(task.result().value, best.value) << mapper;
  }
}

}  // namespace
}  // namespace bayloom::mapspace

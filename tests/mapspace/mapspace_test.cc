// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapspace.h"

#include <gtest/gtest.h>

#include <set>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

Problem Convolution() {
  return Conv2dProblem({.r = 3, .s = 3, .p = 8, .q = 8, .c = 16, .m = 8, .n = 2});
}

TEST(Mapspace, WhatIsDrawnIsAMappingAndObeys) {
  for (const std::string& name : ShippedArchitectureNames()) {
    const Mapspace mapspace(Convolution(), ShippedArchitecture(name));
    base::RandomStream random(1);
    int settled = 0;
    for (int i = 0; i < 2000; ++i) {
      Mapping mapping;
      if (!mapspace.SampleTiling(random, mapping)) continue;
      ++settled;
      mapspace.ShuffleOrders(random, mapping);
      const Status status = CheckMapping(mapping, mapspace.problem(), mapspace.architecture());
      ASSERT_TRUE(status.ok()) << status.error().message;
      ASSERT_TRUE(
          Satisfies(mapping, mapspace.constraints(), mapspace.problem(), mapspace.architecture()));
      for (int step = 0; step < 5 && mapspace.Step(random, mapping); ++step) {
        ASSERT_TRUE(CheckMapping(mapping, mapspace.problem(), mapspace.architecture()).ok());
        ASSERT_TRUE(Satisfies(mapping, mapspace.constraints(), mapspace.problem(),
                              mapspace.architecture()));
      }
    }
    EXPECT_GT(settled, 10) << name;
  }
}

TEST(Mapspace, EnumeratesEveryMappingOnce) {
  const Mapspace mapspace(MatmulProblem(4, 2, 3), ShippedArchitecture("gemmini"));
  std::set<std::string> seen;
  int64_t count = 0;
  for (int64_t tiling = 0; tiling < mapspace.TilingCount(); ++tiling) {
    EXPECT_TRUE(mapspace.ForEachOfTiling(tiling, [&](const Mapping& mapping) {
      seen.insert(PrintMappingYaml(mapping, mapspace.problem(), mapspace.architecture()));
      return ++count < 100000;
    }));
  }
  // 4 is 2 x 2 over four levels: 10 ways; 2 and 3: 4 ways each. Of the loops of one level outside
  // the registers, m that run have m! orders; counted by hand over all tilings.
  EXPECT_EQ(static_cast<int64_t>(seen.size()), count);
  int64_t expected = 0;
  const int splits[10][4] = {{4, 1, 1, 1}, {1, 4, 1, 1}, {1, 1, 4, 1}, {1, 1, 1, 4}, {2, 2, 1, 1},
                             {2, 1, 2, 1}, {2, 1, 1, 2}, {1, 2, 2, 1}, {1, 2, 1, 2}, {1, 1, 2, 2}};
  for (const auto& split : splits) {
    for (int two = 0; two < 4; ++two) {
      for (int three = 0; three < 4; ++three) {
        int64_t orders = 1;
        for (int l = 1; l < 4; ++l) {
          const int moving = (split[l] > 1 ? 1 : 0) + (two == l ? 1 : 0) + (three == l ? 1 : 0);
          orders *= moving == 3 ? 6 : moving == 2 ? 2 : 1;
        }
        expected += orders;
      }
    }
  }
  EXPECT_EQ(count, expected);
}

TEST(Mapspace, ConstraintsFixFactorsOrdersAndTensors) {
  Directive factors;
  factors.kind = Directive::Kind::kTemporal;
  factors.target = "Scratchpad";
  factors.factors = {{"K", 4}, {"I", 2, true}};
  factors.permutation = "J*K";
  Directive bypass;
  bypass.kind = Directive::Kind::kBypass;
  bypass.target = "Scratchpad";
  bypass.bypass = {"Weights"};
  Architecture architecture = ShippedArchitecture("gemmini");
  architecture.constraints.clear();
  const Mapspace mapspace(MatmulProblem(8, 8, 8), architecture, std::vector{factors, bypass});
  base::RandomStream random(3);
  std::set<int64_t> rows;
  for (int i = 0; i < 500; ++i) {
    Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping)) continue;
    mapspace.ShuffleOrders(random, mapping);
    const MappingLevel& scratchpad = mapping.levels[2];
    EXPECT_EQ(scratchpad.temporal[2], 4);
    rows.insert(scratchpad.temporal[0]);
    EXPECT_EQ(scratchpad.order[0], 1);
    EXPECT_EQ(scratchpad.order[2], 2);
    EXPECT_FALSE(scratchpad.Keeps(0));
  }
  EXPECT_EQ(rows, (std::set<int64_t>{1, 2}));
  factors.factors = {{"K", 3}};
  EXPECT_THROW(Mapspace(MatmulProblem(8, 8, 8), architecture, std::vector{factors}), InputError);
}

}  // namespace
}  // namespace bayloom::mapspace

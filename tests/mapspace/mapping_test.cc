// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/mapspace/random_mapping.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Mapping, TimeloopsFilesGoThereAndBack) {
  const Problem problem = Conv2dProblem({.r = 3, .s = 2, .p = 4, .q = 6, .c = 2, .m = 8});
  const Architecture architecture = SmallArchitecture();
  base::RandomStream random(1);
  for (int i = 0; i < 50; ++i) {
    const Mapping mapping = RandomMapping(problem, architecture, random);
    const std::string yaml = PrintMappingYaml(mapping, problem, architecture);
    const Mapping back = ParseMappingYaml(yaml, "printed", problem, architecture);
    EXPECT_EQ(PrintMappingYaml(back, problem, architecture), yaml);
    EXPECT_EQ(PrintCompact(back, problem), PrintCompact(mapping, problem));
  }
}

TEST(Mapping, FilesSayWhereTheyAreWrong) {
  const Problem problem = MatmulProblem(8, 8, 8);
  const Architecture gemmini = ShippedArchitecture("gemmini");
  const auto refusal = [&](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { ParseMappingYaml(text, "m.yaml", problem, gemmini); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refusal("mapping:\n- {target: DRAM, type: temporal, factors: I=8 J=8 K=4}\n",
          "m.yaml:2:1: mapping: the factors of K multiply up to 4, not to its bound 8");
  refusal("mapping:\n- {target: DRAM, type: temporal, factors: I8 J=x}\n",
          "m.yaml:2:43: mapping[0].factors: 'J=x' is no factor");
  refusal("mapping:\n\n- {target: Cache, type: temporal, factors: I=8}\n",
          "m.yaml:3:3: target: there is no level 'Cache'");
  refusal("mapping:\n- {target: DRAM, type: bypass, bypass: [Weights]}\n", "m.yaml:2");
}

TEST(Mapping, HasTheHashOfThoseThatRunTheSameLoops) {
  const Problem problem = MatmulProblem(2, 1, 2);  // small: many are drawn again
  const Architecture architecture = SmallArchitecture();
  base::RandomStream random(2);
  std::map<uint64_t, std::string> by_hash;
  std::map<std::string, uint64_t> by_text;
  for (int i = 0; i < 20000; ++i) {
    Mapping mapping = RandomMapping(problem, architecture, random);
    const uint64_t hash = HashOf(mapping, problem);
    const std::string text = PrintCompact(mapping, problem);
    EXPECT_EQ(by_hash.emplace(hash, text).first->second, text);
    EXPECT_EQ(by_text.emplace(text, hash).first->second, hash);
    for (MappingLevel& level : mapping.levels) {
      std::stable_partition(level.order.begin(), level.order.begin() + problem.DimensionCount(),
                            [&](int d) { return level.temporal[d] == 1; });
    }
    EXPECT_EQ(HashOf(mapping, problem), hash);
  }
  EXPECT_LT(by_hash.size(), 10000u);
}

TEST(Mapping, PrintsAsALoopNest) {
  const Problem problem = MatmulProblem(512, 512, 512);
  const Architecture gemmini = ShippedArchitecture("gemmini");
  const Mapping mapping = ParseMappingYaml(R"(
mapping:
- {target: DRAM, type: temporal, factors: I=16 J=2, permutation: IJK}
- {target: Scratchpad, type: temporal, factors: I=4 K=8, permutation: KIJ}
- {target: Scratchpad, type: bypass, bypass: [Outputs]}
- {target: AccumulationBuffer, type: temporal, factors: J=256 K=4, permutation: JKI}
- {target: AccumulationBuffer, type: bypass, bypass: [Weights, Inputs]}
- {target: Registers, type: temporal, factors: I=8 K=16}
)",
                                           "best", problem, gemmini);
  EXPECT_EQ(PrintCompact(mapping, problem),
            "L3[WIO] J2 I16 - L2[WI] I4 K8 - L1[O] K4 J256 - L0[WIO] K16 I8");
  EXPECT_EQ(PrintLoopNest(mapping, problem, gemmini),
            R"(DRAM [ Weights:262144 Inputs:262144 Outputs:262144 ]
----------------------------------------------------
| for J in [0:2)
|   for I in [0:16)

Scratchpad [ Weights:131072 Inputs:16384 ]
------------------------------------------
|     for I in [0:4)
|       for K in [0:8)

AccumulationBuffer [ Outputs:2048 ]
-----------------------------------
|         for K in [0:4)
|           for J in [0:256)

Registers [ Weights:16 Inputs:128 Outputs:8 ]
---------------------------------------------
|             for K in [0:16)
|               for I in [0:8)

)");
}

}  // namespace
}  // namespace bayloom::mapspace

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/base/random.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/graph/tasks/network_memory.h"

namespace bayloom::graph {
namespace {

TEST(MemoryPlanTest, RequestsThatLiveTogetherNeverOverlap) {
  base::RandomStream random(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<MemoryRequest> requests;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random.UniformInt(30));
      requests.push_back(
          {1 + random.UniformInt(5000), first, first + static_cast<int>(random.UniformInt(6))});
    }
    const ArenaPlan plan = PlanMemory(requests);
    for (size_t a = 0; a < requests.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % target::kBufferAlignment, 0);
      EXPECT_LE(plan.offsets[a] + requests[a].bytes, plan.arena_bytes);
      for (size_t b = 0; b < a; ++b) {
        const bool in_time = requests[a].first_step <= requests[b].last_step &&
                             requests[b].first_step <= requests[a].last_step;
        const bool in_space = plan.offsets[a] < plan.offsets[b] + requests[b].bytes &&
                              plan.offsets[b] < plan.offsets[a] + requests[a].bytes;
        EXPECT_FALSE(in_time && in_space) << a << " and " << b;
      }
    }
  }
}

TEST(MemoryPlanTest, AChainNeedsOnlyTwoBuffersAtATime) {
  std::vector<MemoryRequest> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(PlanMemory(chain).arena_bytes, 2048);
}

}  // namespace
}  // namespace bayloom::graph

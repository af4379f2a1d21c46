// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::tuning {
namespace {

using enum ProgramObjective;

const std::vector<ProgramObjective> kTwo = {kLatency, kSize};
const std::vector<ProgramObjective> kAll = {kLatency, kSize, kMemory};

/// Whole numbers, whose sums are exact in any order.
std::vector<FrontTask> RandomTasks(base::RandomStream& random, int tasks, int programs) {
  std::vector<FrontTask> all;
  for (int i = 0; i < tasks; ++i) {
    FrontTask& task = all.emplace_back();
    task.calls = static_cast<double>(1 + random.UniformInt(3));
    for (int p = 0; p < programs; ++p) {
      const auto draw = [&] { return static_cast<double>(random.UniformInt(30)); };
      task.programs.push_back({draw(), draw(), draw(), draw()});
    }
  }
  return all;
}

/// What the network costs with these programs, by the words of the header.
pareto::Point CostOfNetwork(const std::vector<FrontTask>& tasks, const std::vector<int>& programs) {
  double seconds = 0, size = 0, memory = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const ProgramCost& cost = tasks[i].programs[programs[i]];
    seconds += tasks[i].calls * cost.seconds;
    size += cost.code_bytes + tasks[i].calls * cost.growth_bytes;
    memory = std::max(memory, cost.workspace_bytes);
  }
  return {seconds, size, memory};
}

/// All choices of programs.
std::vector<pareto::Point> AllCosts(const std::vector<FrontTask>& tasks, size_t objectives) {
  std::vector<pareto::Point> costs;
  std::vector<int> programs(tasks.size(), 0);
  while (true) {
    costs.push_back(CostOfNetwork(tasks, programs));
    costs.back().resize(objectives);
    size_t digit = 0;
    while (digit < tasks.size() && ++programs[digit] == std::ssize(tasks[digit].programs)) {
      programs[digit++] = 0;
    }
    if (digit == tasks.size()) return costs;
  }
}

std::vector<pareto::Point> ValuesOf(const std::vector<NetworkChoice>& front) {
  std::vector<pareto::Point> values;
  for (const NetworkChoice& choice : front) values.push_back(choice.values);
  return values;
}

TEST(NetworkFrontTest, IsThatOfAllChoicesOfPrograms) {
  base::RandomStream random(3);
  for (const std::vector<ProgramObjective>& objectives : {kTwo, kAll}) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<FrontTask> tasks = RandomTasks(random, 4, 5);
      const std::vector<pareto::Point> all = AllCosts(tasks, objectives.size());
      std::vector<pareto::Point> expected;
      for (const int i : pareto::FrontOf(all)) expected.push_back(all[i]);
      std::ranges::sort(expected);
      const std::vector<NetworkChoice> front = NetworkFront(tasks, objectives);
      EXPECT_EQ(ValuesOf(front), expected);
      for (const NetworkChoice& choice : front) {
        pareto::Point cost = CostOfNetwork(tasks, choice.programs);
        cost.resize(objectives.size());
        EXPECT_EQ(choice.values, cost) << "the programs are those that cost it";
      }
    }
  }
}

TEST(NetworkFrontTest, ThinnedItKeepsTheEndsAndLosesLittle) {
  base::RandomStream random(4);
  constexpr size_t kMost = 64;
  for (const std::vector<ProgramObjective>& objectives : {kTwo, kAll}) {
    // With three objectives the whole front is large.
    const std::vector<FrontTask> tasks = RandomTasks(random, objectives.size() == 2 ? 30 : 8, 8);
    const std::vector<NetworkChoice> whole = NetworkFront(tasks, objectives, 1 << 20);
    const std::vector<NetworkChoice> thin = NetworkFront(tasks, objectives, kMost);
    ASSERT_GT(whole.size(), kMost) << "nothing was to be dropped";
    EXPECT_LE(thin.size(), kMost + objectives.size());
    EXPECT_EQ(pareto::FrontOf(ValuesOf(thin)).size(), thin.size()) << "none dominates another";
    const pareto::Bounds of_whole = pareto::BoundsOf(ValuesOf(whole));
    EXPECT_EQ(pareto::BoundsOf(ValuesOf(thin)).ideal, of_whole.ideal);
    if (objectives.size() > 2) continue;
    // Nearly as fast at half of the range of sizes.
    const auto fastest = [&](const std::vector<NetworkChoice>& front) {
      const double limit = (of_whole.ideal[1] + of_whole.nadir[1]) / 2;
      return std::ranges::find_if(
                 front, [&](const NetworkChoice& choice) { return choice.values[1] <= limit; })
          ->values[0];
    };
    EXPECT_LE(fastest(thin) - fastest(whole), 0.05 * of_whole.Range(0));
  }
}

TEST(NetworkFrontTest, ThereIsNoneWithoutAProgramForEachTask) {
  EXPECT_TRUE(NetworkFront(std::vector<FrontTask>{{1, {{1, 1}}}, {1, {}}}, kTwo).empty());
}

TEST(NetworkFrontTest, ThePreferredIsTheBestWithinTheLimits) {
  base::RandomStream random(5);
  for (int round = 0; round < 50; ++round) {
    const std::vector<FrontTask> tasks = RandomTasks(random, 3, 5);
    const std::vector<pareto::Point> all = AllCosts(tasks, 3);
    const double fastest = std::ranges::min(all)[0];
    ProgramPreference preference;
    preference.prefer = std::vector{kLatency, kSize, kMemory}[random.UniformInt(3)];
    if (random.Uniform() < 0.5) preference.max_size = 40 + 60 * random.Uniform();
    if (random.Uniform() < 0.5) preference.max_memory = 10 + 20 * random.Uniform();
    if (random.Uniform() < 0.5) preference.max_slowdown = random.Uniform();
    const auto wanted = static_cast<size_t>(preference.prefer);
    std::optional<double> best;
    for (const pareto::Point& cost : all) {
      if (cost[1] > preference.max_size || cost[2] > preference.max_memory) continue;
      if (cost[0] > fastest * (1 + preference.max_slowdown)) continue;
      if (!best || cost[wanted] < *best) best = cost[wanted];
    }
    const std::vector<NetworkChoice> front = NetworkFront(tasks, preference.Objectives());
    const Result<size_t> chosen = Prefer(front, preference);
    ASSERT_EQ(chosen.ok(), best.has_value());
    if (!best) continue;
    const pareto::Point cost = CostOfNetwork(tasks, front[*chosen].programs);
    EXPECT_EQ(cost[wanted], *best);
    EXPECT_LE(cost[1], preference.max_size);
    EXPECT_LE(cost[2], preference.max_memory);
    EXPECT_LE(cost[0], fastest * (1 + preference.max_slowdown));
  }
}

TEST(NetworkFrontTest, WhatIsNotPossibleIsRefusedWithWhatIs) {
  const std::vector<FrontTask> tasks = {{2, {{1, 5000}, {2, 3000, 10}}}};
  ProgramPreference preference;
  EXPECT_TRUE(preference.IsDefault());
  preference.max_size = 3019;
  EXPECT_FALSE(preference.IsDefault());
  const Result<size_t> refused = Prefer(NetworkFront(tasks, preference.Objectives()), preference);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "no programs known are within the limits, the smallest programs have 3.0 kB");
  preference.max_size = 3020;  // 3000 once, 10 for each of two calls
  EXPECT_TRUE(Prefer(NetworkFront(tasks, preference.Objectives()), preference).ok());
}

TEST(ParseObjectivesTest, TakesNamesInAnyOrderWithTheLatencyAmongThem) {
  EXPECT_EQ(*ParseObjectives("latency"), std::vector{kLatency});
  EXPECT_EQ(*ParseObjectives("size,latency"), kTwo);
  EXPECT_EQ(ToString(*ParseObjectives("memory,latency,size")), "latency,size,memory");
  for (const char* text : {"", "size", "latency,", "latency,speed", "latency,size,size"}) {
    EXPECT_FALSE(ParseObjectives(text).ok()) << text;
  }
}

}  // namespace
}  // namespace bayloom::tuning

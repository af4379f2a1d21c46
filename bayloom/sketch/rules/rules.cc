#include "bayloom/sketch/rules/rules.h"

#include <array>
#include <utility>

namespace bayloom {
namespace {

std::vector<std::string> BlockNamesFromTheEnd(const Program& program) {
  std::vector<std::string> names;
  const std::vector<BlockId> blocks = program.BlocksInOrder();
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
    names.push_back(program.blocks[*it].name);
  }
  return names;
}

/// The alternatives one rule makes of one schedule.
std::vector<Schedule> ApplyToAllBlocks(const Rule& rule, Schedule schedule, const Target& target) {
  const std::vector<std::string> names = BlockNamesFromTheEnd(schedule.program());
  std::vector<Schedule> alternatives = {std::move(schedule)};
  for (const std::string& name : names) {
    std::vector<Schedule> next;
    for (Schedule& alternative : alternatives) {
      if (alternative.program().FindBlock(name) < 0) {
        next.push_back(std::move(alternative));
        continue;
      }
      for (Schedule& s : rule.apply(std::move(alternative), name, target)) {
        next.push_back(std::move(s));
      }
    }
    alternatives = std::move(next);
  }
  return alternatives;
}

}  // namespace

std::span<const Rule> CpuRules() {
  static constexpr std::array kRules = {
      Rule{"inline constants", InlineConstants},
      Rule{"auto inline", AutoInline},
      Rule{"inline padding", InlinePadding},
      Rule{"add rfactor", AddRFactor},
      Rule{"multi-level tiling", MultiLevelTiling},
      Rule{"tile reduction", TileReduction},
      Rule{"parallelize, vectorize, unroll", ParallelizeVectorizeUnroll},
      Rule{"random compute location", RandomComputeLocation},
  };
  return kRules;
}

std::vector<Schedule> ApplyRules(const Workload& workload, std::span<const Rule> rules,
                                 const Target& target) {
  std::vector<Schedule> schedules;
  schedules.emplace_back(workload, /*seed=*/0);
  for (const Rule& rule : rules) {
    std::vector<Schedule> next;
    for (Schedule& schedule : schedules) {
      for (Schedule& s : ApplyToAllBlocks(rule, std::move(schedule), target)) {
        next.push_back(std::move(s));
      }
    }
    schedules = std::move(next);
  }
  return schedules;
}

}  // namespace bayloom

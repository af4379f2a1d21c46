// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/rules/rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "bayloom/tensor/library_call.h"

namespace bayloom::sketch {
namespace {

std::vector<std::string> BlockNamesFromTheEnd(const tensor::Program& program) {
  std::vector<std::string> names;
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
    names.push_back(program.blocks[*it].name);
  }
  return names;
}

/// The alternatives one rule makes of one schedule, `max_alternatives` at most: what it makes of a
/// block beyond them is only the first.
std::vector<tensor::Schedule> ApplyToAllBlocks(const Rule& rule, tensor::Schedule schedule,
                                               const target::Target& target,
                                               size_t max_alternatives) {
  const std::vector<std::string> names = BlockNamesFromTheEnd(schedule.program());
  std::vector<tensor::Schedule> alternatives = {std::move(schedule)};
  for (const std::string& name : names) {
    std::vector<tensor::Schedule> next;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      if (alternatives[i].program().FindBlock(name) < 0) {
        next.push_back(std::move(alternatives[i]));
        continue;
      }
      std::vector<tensor::Schedule> made = rule.apply(std::move(alternatives[i]), name, target);
      const size_t others = next.size() + alternatives.size() - i - 1;
      if (others + made.size() > max_alternatives) made.erase(made.begin() + 1, made.end());
      std::move(made.begin(), made.end(), std::back_inserter(next));
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

std::span<const Rule> InliningRules() { return CpuRules().first(2); }

std::span<const Rule> FinishingRules() {
  static constexpr std::array kRules = {
      Rule{"parallelize, vectorize, unroll", ParallelizeVectorizeUnroll},
  };
  return kRules;
}

std::vector<tensor::Schedule> ApplyRules(const tensor::Workload& workload,
                                         std::span<const Rule> rules,
                                         const target::Target& target) {
  std::vector<tensor::Schedule> schedules;
  schedules.emplace_back(workload, /*seed=*/0);
  if (tensor::IsCall(workload)) return schedules;  // nothing to decide
  return ApplyRules(std::move(schedules), rules, target);
}

std::vector<tensor::Schedule> ApplyRules(std::vector<tensor::Schedule> schedules,
                                         std::span<const Rule> rules,
                                         const target::Target& target) {
  for (const Rule& rule : rules) {
    std::vector<tensor::Schedule> next;
    const size_t max_each = std::max<size_t>(kMaxDesignSpaces / schedules.size(), 1);
    for (tensor::Schedule& schedule : schedules) {
      for (tensor::Schedule& s : ApplyToAllBlocks(rule, std::move(schedule), target, max_each)) {
        next.push_back(std::move(s));
      }
    }
    schedules = std::move(next);
  }
  return schedules;
}

}  // namespace bayloom::sketch

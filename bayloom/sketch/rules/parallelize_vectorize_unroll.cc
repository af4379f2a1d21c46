// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

const std::vector<int64_t>& UnrollSteps() {
  static const std::vector<int64_t> steps = {0, 16, 64, 512};
  return steps;
}

Status AnnotateChoice(tensor::Schedule& schedule, tensor::BlockVar block, const char* key,
                      const std::vector<int64_t>& choices) {
  const std::vector<double> uniform(choices.size(), 1.0 / static_cast<double>(choices.size()));
  Result<tensor::ValueVar> choice = schedule.SampleCategorical(choices, uniform);
  if (!choice) return choice.error();
  return schedule.Annotate(block, key, *choice);
}

}  // namespace

std::vector<tensor::Schedule> ParallelizeVectorizeUnroll(tensor::Schedule schedule,
                                                         const std::string& name,
                                                         const target::Target& target) {
  const std::vector<tensor::BlockId> blocks = schedule.program().BlocksInOrder();
  if (schedule.program().FindBlock(name) != blocks.back()) return {std::move(schedule)};
  const bool reduces = std::any_of(blocks.begin(), blocks.end(), [&](tensor::BlockId id) {
    return schedule.program().blocks[id].kind != tensor::BlockKind::kPlain;
  });
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return {std::move(schedule)};
  if (target.cores > 1) {
    // MetaSchedule fixes 16 jobs a core and lets a mutator change it; small workloads are better
    // off with few jobs or none, so the choice is a decision of its own here.
    const int64_t cores = target.cores;
    (void)AnnotateChoice(schedule, *block, kParallelJobs, {1, cores, 4 * cores, 16 * cores});
  }
  if (reduces) (void)AnnotateChoice(schedule, *block, kUnrollMaxStep, UnrollSteps());
  return {std::move(schedule)};
}

}  // namespace bayloom::sketch

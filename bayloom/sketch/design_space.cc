#include "bayloom/sketch/design_space.h"

#include <utility>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"

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

Program MakeUntuned(const Workload& workload, const Target& target) {
  const std::span<const Rule> inline_rules = CpuRules().first(2);
  Program program = ApplyRules(workload, inline_rules, target).front().program();
  const BlockId last = program.BlocksInOrder().back();
  program.blocks[last].annotations[kParallelJobs] = target.cores;
  Program postprocessed = program;
  if (Postprocess(postprocessed, target)) return postprocessed;
  return program;
}

}  // namespace

SpaceGenerator::SpaceGenerator(Workload workload, Target target)
    : workload_(std::move(workload)), target_(std::move(target)) {
  for (const Schedule& schedule : ApplyRules(workload_, CpuRules(), target_)) {
    spaces_.push_back(schedule.trace().WithoutDecisions());
  }
  untuned_ = MakeUntuned(workload_, target_);
}

Result<Candidate> SpaceGenerator::Sample(int space, RandomStream random) const {
  return Replay(space, spaces_[space], random);
}

Result<Candidate> SpaceGenerator::Replay(int space, const Trace& trace, RandomStream random) const {
  Result<Schedule> schedule = bayloom::Replay(workload_, trace, random);
  if (!schedule) return schedule.error();
  Candidate candidate;
  candidate.trace = schedule->trace();
  candidate.program = std::move(schedule->mutable_program());
  candidate.space = space;
  if (Status s = Postprocess(candidate.program, target_); !s) return s.error();
  candidate.hash = candidate.program.StructuralHash();
  return candidate;
}

int SpaceGenerator::SpaceOf(const Trace& trace) const {
  const uint64_t hash = trace.SpaceHash();
  for (int i = 0; i < static_cast<int>(spaces_.size()); ++i) {
    if (spaces_[i].SpaceHash() == hash) return i;
  }
  return -1;
}

}  // namespace bayloom

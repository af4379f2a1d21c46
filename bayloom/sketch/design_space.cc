// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/design_space.h"

#include <iterator>
#include <utility>

#include "bayloom/sketch/derivations/derivations.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/sketch/pattern.h"
#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/row_chain.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom::sketch {
namespace {

std::vector<tensor::Schedule> SpacesOf(const tensor::Workload&, std::monostate,
                                       const target::Target&) {
  return {};
}

std::vector<tensor::Schedule> CpuSpaces(const tensor::Workload& workload,
                                        const target::Target& target,
                                        const DerivationChoice& derivations) {
  std::vector<tensor::Schedule> of_pattern =
      std::visit([&](const auto& pattern) { return SpacesOf(workload, pattern, target); },
                 Recognize(workload));
  if (!of_pattern.empty()) return of_pattern;
  std::vector<tensor::Schedule> schedules = ApplyRules(workload, CpuRules(), target);
  if (auto rows = RowChainSpace(workload, target)) schedules.push_back(*std::move(rows));
  const tensor::Schedule inlined = ApplyRules(workload, InliningRules(), target).front();
  std::vector<tensor::Schedule> derived = Derive(inlined, target, derivations);
  if (!derived.empty()) derived = ApplyRules(std::move(derived), FinishingRules(), target);
  std::move(derived.begin(), derived.end(), std::back_inserter(schedules));
  return schedules;
}

}  // namespace

SpaceGenerator::SpaceGenerator(tensor::Workload workload, target::Target target, ProgramCheck check,
                               const DerivationChoice& derivations, bool limits_are_known)
    : workload_(std::move(workload)), target_(std::move(target)), check_(std::move(check)) {
  if (target_.kind() == target::TargetKind::kNvidiaGpu) {
    gpu_ =
        std::make_shared<const GpuSpaces>(workload_, target::LimitsOf(target_), limits_are_known);
    spaces_ = gpu_->spaces();
    return;
  }
  for (const tensor::Schedule& schedule : CpuSpaces(workload_, target_, derivations)) {
    spaces_.push_back(schedule.trace().WithoutDecisions());
  }
}

Result<Candidate> SpaceGenerator::Sample(int space, base::RandomStream random) const {
  if (gpu_ == nullptr) return Replay(space, spaces_[space], random);
  return Counted(gpu_->Sample(space, random));
}

Result<Candidate> SpaceGenerator::Replay(int space, const tensor::Trace& trace,
                                         base::RandomStream random) const {
  return Counted(gpu_ ? gpu_->Replay(space, trace, random) : Make(space, trace, random));
}

Result<Candidate> SpaceGenerator::Counted(Result<Candidate> candidate) const {
  ++counters_->replayed;
  if (candidate && check_) {
    if (Status s = check_(candidate->program); !s) candidate = s.error();
  }
  if (!candidate) ++counters_->refused;
  return candidate;
}

std::optional<tensor::Trace> SpaceGenerator::MutateWithinLimits(int space,
                                                                const tensor::Trace& trace,
                                                                base::RandomStream random) const {
  if (gpu_ == nullptr) return std::nullopt;
  if (!gpu_->limits_are_known()) {
    Result<tensor::Trace> mutant = gpu_->MutateTrace(space, trace, random);
    return mutant ? std::optional(*std::move(mutant)) : std::nullopt;
  }
  Result<Candidate> mutant = gpu_->Mutate(space, trace, random);
  if (!mutant) return std::nullopt;
  return std::move(mutant->trace);
}

ReplayCounts SpaceGenerator::counts() const { return {counters_->replayed, counters_->refused}; }

Result<Candidate> SpaceGenerator::Make(int space, const tensor::Trace& trace,
                                       base::RandomStream random) const {
  Result<tensor::Schedule> schedule = bayloom::tensor::Replay(workload_, trace, random);
  if (!schedule) return schedule.error();
  Candidate candidate;
  candidate.trace = schedule->trace();
  candidate.program = std::move(schedule->mutable_program());
  candidate.space = space;
  if (Status s = Postprocess(candidate.program, target_); !s) return s.error();
  candidate.hash = candidate.program.StructuralHash();
  return candidate;
}

int SpaceGenerator::SpaceOf(const tensor::Trace& trace) const {
  const uint64_t hash = trace.SpaceHash();
  for (int i = 0; i < static_cast<int>(spaces_.size()); ++i) {
    if (spaces_[i].SpaceHash() == hash) return i;
  }
  return -1;
}

}  // namespace bayloom::sketch

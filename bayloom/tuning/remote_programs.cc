// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/remote_programs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "bayloom/record/json_text.h"
#include "bayloom/remote/answer_seconds.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/emulated.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/workload_json.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {
namespace {

using Json = nlohmann::json;

/// More than any slot has trials: strategies choose a slot's candidates together.
constexpr int kProgramCapacity = 1024;
/// Programs that a worker compiles together, before it times them.
constexpr int kMinSlots = 4;
constexpr int kMaxSlots = 16;

Json CandidateJson(const sketch::Candidate& candidate) {
  Json json = {{"program", record::HashToHex(candidate.hash)}};
  if (!IsPlain(candidate)) json["trace"] = candidate.trace.ToJson();
  return json;
}

Result<sketch::Candidate> CandidateOf(const Json& json, const sketch::SpaceGenerator& space) {
  if (!json.is_object() || !json.contains("program")) return Error{"a candidate without 'program'"};
  uint64_t hash = 0;
  try {
    hash = record::HashFromHex(json["program"]);
  } catch (const std::invalid_argument&) {
    return Error{"'program' is no hash of 16 digits"};
  }
  Result<sketch::Candidate> candidate = [&]() -> Result<sketch::Candidate> {
    if (!json.contains("trace")) return DefaultCandidate(space);
    const Result<tensor::Trace> trace = tensor::Trace::FromJson(json["trace"]);
    if (!trace) return trace.error();
    // The space of a trace decides how the rest of the program is made.
    return space.Replay(std::max(0, space.SpaceOf(*trace)), *trace, base::RandomStream(0));
  }();
  if (candidate && candidate->hash != hash) {
    return Error{"the trace makes another program here than there"};
  }
  return candidate;
}

Result<target::Target> TargetOf(const Json& definition) {
  try {
    return target::TargetFromJson(definition.at("target"));
  } catch (const Json::exception&) {
    return Error{"a definition without a target"};
  }
}

}  // namespace

RemoteProgramEvaluator::RemoteProgramEvaluator(remote::WorkerPool& pool, target::Target target)
    : pool_(pool), target_(std::move(target)) {}

int RemoteProgramEvaluator::Capacity() const { return kProgramCapacity; }

void RemoteProgramEvaluator::Submit(trial::TrialId id, const ProgramTrial& trial) {
  const uint64_t hash = trial.workload->StructuralHash();
  auto subject = subjects_.find(hash);
  if (subject == subjects_.end()) {
    Json definition = {{"kind", kProgramKind},
                       {"target", target::TargetToJson(target_)},
                       {"workload", tensor::WorkloadToJson(*trial.workload)}};
    subject = subjects_
                  .emplace(hash, pool_.AddSubject(std::move(definition),
                                                  /*is_timed=*/!target::IsEmulated(target_),
                                                  remote::kProgramAnswerSeconds))
                  .first;
  }
  pool_.Submit(subject->second, id, CandidateJson(trial.candidate), trial.is_repeat);
}

std::vector<trial::FinishedTrial> RemoteProgramEvaluator::Collect(
    double wait_seconds, const std::function<bool()>& stop) {
  return pool_.Collect(wait_seconds, stop);
}

Result<std::unique_ptr<remote::CandidateEvaluator>> MakeProgramCandidateEvaluator(
    const Json& definition, measure::Measurer& measurer) {
  const Result<target::Target> target = TargetOf(definition);
  if (!target) return target.error();
  if (target::HashOf(*target) != target::HashOf(measurer.target())) {
    return Error{"the programs are for another target"};
  }
  Result<tensor::Workload> workload =
      tensor::WorkloadFromJson(definition.value("workload", Json()));
  if (!workload) return workload.error();
  const auto space = std::make_shared<const sketch::SpaceGenerator>(*std::move(workload), *target);
  const int slots =
      std::clamp(2 * static_cast<int>(std::thread::hardware_concurrency()), kMinSlots, kMaxSlots);
  std::unique_ptr<remote::CandidateEvaluator> evaluator =
      std::make_unique<remote::TypedCandidateEvaluator<ProgramTrial>>(
          std::make_unique<MeasureEvaluator>(measurer), slots,
          [space](const Json& json, bool is_repeat) -> Result<ProgramTrial> {
            Result<sketch::Candidate> candidate = CandidateOf(json, *space);
            if (!candidate) return candidate.error();
            return ProgramTrial{&space->workload(), *std::move(candidate), is_repeat};
          });
  return evaluator;
}

}  // namespace bayloom::tuning

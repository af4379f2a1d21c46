// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/restore.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/tuning/default_comparison.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {

std::string CandidateText(const sketch::Candidate& candidate) {
  return nlohmann::json{{"space", candidate.space}, {"trace", candidate.trace.ToJson()}}.dump();
}

namespace {

/// Made again in the design space that the trace belongs to; if there is none any more and it may
/// be of an earlier one, as the first space would go on with it.
Result<sketch::Candidate> Restore(const sketch::SpaceGenerator& space,
                                  const trial::TrialRecord& trial, bool may_be_of_earlier_spaces) {
  const nlohmann::json json = base::ParseJsonOrDiscard(trial.candidate);
  if (!json.is_object() || !json.contains("trace")) return Error{"there is no trace"};
  Result<tensor::Trace> trace = tensor::Trace::FromJson(json["trace"]);
  if (!trace) return trace.error();
  const int index = space.SpaceOf(*trace);
  const bool is_plain = trace->instructions().empty();
  if (index < 0 && !is_plain && !may_be_of_earlier_spaces) {
    return Error{"the trace belongs to no design space of its workload"};
  }
  Result<sketch::Candidate> candidate =
      is_plain ? DefaultCandidate(space)
               : space.Replay(std::max(0, index), *trace, base::RandomStream(0));
  if (candidate && candidate->hash != trial.key) {
    return Error{"the trace makes another program than the one that was measured"};
  }
  return candidate;
}

}  // namespace

Result<sketch::Candidate> RestoreCandidate(const sketch::SpaceGenerator& space,
                                           const trial::TrialRecord& trial) {
  return Restore(space, trial, /*may_be_of_earlier_spaces=*/false);
}

std::optional<MeasuredCandidate> RestoreBest(record::Store& store,
                                             const sketch::SpaceGenerator& space,
                                             const sketch::DerivationChoice* derivations) {
  constexpr int kAttempts = 16;
  const std::optional<record::TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<record::TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return std::nullopt;
  for (const record::StoredTrial& trial : store.BestOf(*task, *target, kAttempts)) {
    Result<sketch::Candidate> candidate = Restore(space, trial, /*may_be_of_earlier_spaces=*/true);
    if (!candidate) continue;
    if (derivations != nullptr && !derivations->Allows(candidate->trace)) continue;
    const std::optional<DefaultComparison> compared = CompareWithDefault(store, trial);
    std::optional<trial::Outcome> by_default = compared ? compared->FasterDefault() : std::nullopt;
    if (by_default) return MeasuredCandidate{DefaultCandidate(space), *std::move(by_default)};
    return MeasuredCandidate{*std::move(candidate), trial.outcome};
  }
  return std::nullopt;
}

}  // namespace bayloom::tuning

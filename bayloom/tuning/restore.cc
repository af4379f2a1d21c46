#include "bayloom/tuning/restore.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace bayloom {

std::string CandidateText(const Candidate& candidate) {
  return nlohmann::json{{"space", candidate.space}, {"trace", candidate.trace.ToJson()}}.dump();
}

Result<Candidate> RestoreCandidate(const SpaceGenerator& space, const TrialRecord& trial) {
  const nlohmann::json json = nlohmann::json::parse(trial.candidate, nullptr, false);
  if (!json.is_object() || !json.contains("trace")) return Error{"there is no trace"};
  Result<Trace> trace = Trace::FromJson(json["trace"]);
  if (!trace) return trace.error();
  const int index = space.SpaceOf(*trace);
  if (index < 0) return Error{"the trace belongs to no design space of its workload"};
  Result<Candidate> candidate = space.Replay(index, *trace, RandomStream(0));
  if (candidate && candidate->hash != trial.key) {
    return Error{"the trace makes another program than the one that was measured"};
  }
  return candidate;
}

std::optional<MeasuredCandidate> RestoreBest(Store& store, const SpaceGenerator& space) {
  constexpr int kAttempts = 16;
  const std::optional<TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return std::nullopt;
  for (const StoredTrial& trial : store.BestOf(*task, *target, kAttempts)) {
    Result<Candidate> candidate = RestoreCandidate(space, trial);
    if (candidate) return MeasuredCandidate{*std::move(candidate), trial.outcome};
  }
  return std::nullopt;
}

}  // namespace bayloom

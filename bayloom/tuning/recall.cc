#include "bayloom/tuning/recall.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace bayloom {

Result<Candidate> RecallCandidate(const SpaceGenerator& space, const Trial& trial) {
  Result<Trace> trace = Trace::FromJson(nlohmann::json::parse(trial.trace, nullptr, false));
  if (!trace) return trace.error();
  const int index = space.SpaceOf(*trace);
  if (index < 0) return Error{"the trace belongs to no design space of its workload"};
  Result<Candidate> candidate = space.Replay(index, *trace, RandomStream(0));
  if (candidate && candidate->hash != trial.program_hash) {
    return Error{"the trace makes another program than the one that was measured"};
  }
  return candidate;
}

std::optional<MeasuredCandidate> RecallBest(Store& store, const SpaceGenerator& space) {
  constexpr int kAttempts = 16;
  const std::optional<TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return std::nullopt;
  for (const Trial& trial : store.BestOf(*task, *target, kAttempts)) {
    Result<Candidate> candidate = RecallCandidate(space, trial);
    if (candidate) return MeasuredCandidate{*std::move(candidate), trial.outcome};
  }
  return std::nullopt;
}

}  // namespace bayloom

#pragma once

#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/task.h"

namespace bayloom {

/// The candidate of a recorded trial, made anew. Fails if the design spaces of today do not make
/// that program from that trace any more.
Result<Candidate> RecallCandidate(const SpaceGenerator& space, const Trial& trial);

/// The fastest program recorded for the generator's workload and target that can be made anew;
/// nullopt if there is none.
std::optional<MeasuredCandidate> RecallBest(Store& store, const SpaceGenerator& space);

}  // namespace bayloom

#pragma once

#include <optional>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom {

/// What a store keeps of a candidate: {"space": N, "trace": [...]}.
std::string CandidateText(const Candidate& candidate);

/// The candidate of a recorded trial, made anew. Fails if the design spaces of today do not make
/// that program from that trace any more.
Result<Candidate> RestoreCandidate(const SpaceGenerator& space, const TrialRecord& trial);

/// The fastest program recorded for the generator's workload and target that can be made anew;
/// nullopt if there is none.
std::optional<MeasuredCandidate> RestoreBest(Store& store, const SpaceGenerator& space);

}  // namespace bayloom

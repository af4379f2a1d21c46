// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/measured_candidate.h"

namespace bayloom::tuning {

/// What a store keeps of a candidate: {"space": N, "trace": [...]}; the default program has an
/// empty trace.
std::string CandidateText(const sketch::Candidate& candidate);

/// The candidate of a recorded trial, made again. Fails if the design spaces of today do not make
/// that program from that trace any more.
Result<sketch::Candidate> RestoreCandidate(const sketch::SpaceGenerator& space,
                                           const trial::TrialRecord& trial);

/// The fastest program recorded for the generator's workload and target that can be made again,
/// also if its trace is of a design space that an earlier version had; nullopt if there is none.
/// The default program where it was faster in turns (DefaultComparison).
/// `derivations`: that it may have been made by; null: any.
std::optional<MeasuredCandidate> RestoreBest(record::Store& store,
                                             const sketch::SpaceGenerator& space,
                                             const sketch::DerivationChoice* derivations = nullptr);

}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/programs_by_size.h"

namespace bayloom::tuning {

/// Recorded programs of a workload with open axes that share its lengths.
struct MeasuredSet {
  record::StoredTrial trial;  ///< of the one for the largest lengths
  sketch::Candidate largest;
  std::vector<SmallCandidate> small = {};
};

/// The fastest sets by the trials' times at each of their sizes, the fastest first: at most one for
/// each form of the constants, and `count` in all. Without trials at several sizes there is none.
/// `derivations`: that programs may have been made by; null: any.
std::vector<MeasuredSet> FastestSets(record::Store& store, const sketch::SpaceGenerator& space,
                                     const sketch::DerivationChoice* derivations, int count);

/// Notes in outcomes of the comparison that has chosen the set which programs are used beside.
void NoteSmall(std::span<const SmallCandidate> small, trial::Outcome& outcome);

/// The set that the task's latest comparison has chosen; nothing where none has.
std::optional<MeasuredSet> ChosenSet(record::Store& store, const sketch::SpaceGenerator& space,
                                     const sketch::DerivationChoice* derivations);

/// What is used of a task's records: the set that its latest comparison has chosen, unless another
/// program is `best` now, else the fastest set. Nothing where there is none, or no axis is open.
std::optional<MeasuredSet> BestSet(record::Store& store, const sketch::SpaceGenerator& space,
                                   const sketch::Candidate& best,
                                   const sketch::DerivationChoice* derivations = nullptr);

/// What a set costs at one of the points of its workload, by the trials' times.
struct SizeLoss {
  double seconds = 0;  ///< with the set
  double fastest = 0;  ///< with the fastest recorded program for these sizes alone
};
/// At each of the points; empty where the set was not timed there.
std::vector<SizeLoss> LossesOf(record::Store& store, const sketch::SpaceGenerator& space,
                               const MeasuredSet& set);

}  // namespace bayloom::tuning

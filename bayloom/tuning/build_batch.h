// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <vector>

#include "bayloom/tensor/program.h"
#include "bayloom/trial/evaluator.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::tuning {

/// A trial whose program is not compiled yet.
struct WaitingProgram {
  trial::TrialId id;
  const ProgramTrial* trial;
};

/// What is compiled together: programs of one workload, each once.
struct BuildBatch {
  std::vector<const tensor::Program*> programs;
  std::vector<size_t> place_of;  ///< of each trial, in `programs`
};

/// The batch of the first of those that wait, of which there is one at least: as many as keep all
/// compiling threads busy, and so few that little is thrown away at the end of a budget.
BuildBatch NextBatch(const std::deque<WaitingProgram>& waiting);

}  // namespace bayloom::tuning

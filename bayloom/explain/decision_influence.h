// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/model/sobol_index.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::explain {

/// What becomes of a program when one of its decisions is drawn again and the others stay: times
/// over its own. Without draws that made another program, all are 1.
struct Redraws {
  int draws = 0;
  double least = 1;
  double median = 1;
  double greatest = 1;
};

/// A decision of a schedule and what hangs on it.
struct DecisionInfluence {
  int step = 0;          ///< of the trace
  std::string decision;  ///< DecisionText
  /// By estimate (feature::EstimateCodeTime).
  Redraws estimated;
  /// What part of the variation of the logarithm of time it is responsible for over the design
  /// space, and what becomes of the program, by a model of the trials; without one, nothing.
  std::optional<model::SobolIndex> index;
  std::optional<Redraws> learnt;
};

struct DecisionInfluences {
  /// Of every sampling step, those first on which most of the measured variation hangs, else those
  /// without which the estimate is worst.
  std::vector<DecisionInfluence> decisions;
  int64_t trials = 0;  ///< of the design space, that the model learnt from
  /// How well it orders trials that it has not learnt from (five parts in turn): Spearman's rank
  /// correlation, -1 to 1. Without a model, nothing.
  std::optional<double> rank_correlation;
};

/// A measured program of a design space: its decisions and its time in seconds.
struct MeasuredTrace {
  tensor::Trace trace;
  double seconds = 0;
};

/// Fewer trials than these of the candidate's design space teach nothing.
inline constexpr int kFewestTrialsToLearnFrom = 24;

/// What hangs on each decision of a candidate: by the estimate, and by a random forest that learns
/// from the trials of the same design space (others are passed over), with Sobol indices over
/// independent draws of the decisions from the space (model/sobol_indices.h; Kannan 2023, sec. V-C
/// does so for mapspaces). The same arguments give the same answer.
DecisionInfluences InfluenceOfDecisions(const sketch::SpaceGenerator& space,
                                        const sketch::Candidate& candidate,
                                        std::span<const MeasuredTrace> trials);

}  // namespace bayloom::explain

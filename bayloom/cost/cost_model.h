// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/cost/sample.h"
#include "bayloom/feature/program_features.h"

namespace bayloom::cost {

/// Predicts how good programs are without compiling them.
///
/// A score estimates normalized throughput, the task's best time so far over the program's time:
/// about 1 for the best program known, 0 for a useless one. Scores compare programs of one task.
///
/// What a model knows follows from its options, the batches it was given and their order; a
/// session is resumed by remembering the batches it had. One model serves all tasks of a session,
/// and is used by one thread at a time.
class CostModel {
 public:
  virtual ~CostModel() = default;

  /// One score per program. While a model knows too little, scores are random.
  virtual std::vector<double> Predict(std::span<const feature::FeatureMatrix* const> programs) = 0;

  /// The same for programs of one task, which a model may know more or less of.
  virtual std::vector<double> PredictFor(uint64_t /*task*/,
                                         std::span<const feature::FeatureMatrix* const> programs) {
    return Predict(programs);
  }

  /// How many programs the task's next batch should hold regardless of their scores, for the model
  /// to learn whether those are right.
  virtual int ExplorationCount(uint64_t /*task*/) const { return 0; }

  /// Whether scores of the task say something before anything was measured of it.
  virtual bool IsInformed(uint64_t /*task*/) const { return false; }

  /// Learns a batch of measurements (any tasks) and returns how well it was predicted before.
  virtual BatchMetrics Update(std::span<const Sample> batch) = 0;

  /// As Update, for batches of an earlier run: nothing is evaluated, and what training becomes
  /// superfluous by later batches is skipped.
  virtual void Remember(std::span<const Sample> batch) = 0;
};

/// Uniform in [0, 1).
std::vector<double> RandomScores(base::RandomStream& random, size_t count);
/// The random stream of a model that knows so many samples: a resumed session draws the scores
/// that the interrupted one would have drawn.
base::RandomStream StreamAfter(uint64_t seed, int samples);

}  // namespace bayloom::cost

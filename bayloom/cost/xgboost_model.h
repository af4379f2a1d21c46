// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/cost/throughput_trees.h"

namespace bayloom::cost {

struct XgboostOptions {
  BoostingOptions trees;
  /// Scores are random until so many samples are known: trees grown on fewer mislead.
  int random_until = 64;
  /// All trees are grown again once the samples are more by this share than at the last fit. In
  /// between, every batch adds `rounds_per_batch` trees to them, fitted to all samples.
  double refit_growth = 0.2;
  int rounds_per_batch = 10;
  /// Samples to learn from at most, so that learning a batch takes no longer after 50,000 of them.
  /// Once there are more by a quarter they are thinned: every task's best, the newest half and an
  /// even share of the others stay, and all trees are grown again.
  int max_samples = 10'000;
  uint64_t seed = 43;  ///< of the random scores
};

/// Boosted regression trees (ThroughputTrees), trained online after every batch on all samples, or
/// a selection of very many.
class XgboostModel final : public CostModel {
 public:
  explicit XgboostModel(const XgboostOptions& options = {});

  std::vector<double> Predict(std::span<const feature::FeatureMatrix* const> programs) override;
  BatchMetrics Update(std::span<const Sample> batch) override;
  void Remember(std::span<const Sample> batch) override;

  /// Samples it was given.
  int samples() const { return given_; }
  /// Those that it keeps to learn from.
  int kept() const { return static_cast<int>(samples_.size()); }
  /// Trees in use; 0 while scores are random.
  int rounds();

  /// The trees as bytes, without the samples. Empty while scores are random.
  std::string Save();
  /// Takes over saved trees. They score until this model has grown its own.
  Status Load(std::string_view bytes) { return trees_.Load(bytes); }

 private:
  void Train();
  void Thin();

  XgboostOptions options_;
  base::RandomStream random_;
  std::vector<Sample> samples_;
  TaskBests bests_;
  int given_ = 0;
  std::vector<int> untrained_;  ///< how many samples were kept after each batch not yet learnt
  int fitted_samples_ = 0;      ///< how many there were at the last fit
  ThroughputTrees trees_;
};

}  // namespace bayloom::cost

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cost/booster.h"
#include "bayloom/cost/encoding.h"
#include "bayloom/cost/sample.h"

namespace bayloom::cost {

/// How trees are grown. Depth, gain and learning rate are MetaSchedule's.
struct BoostingOptions {
  RowEncoding encoding = RowEncoding::kRowPerProgram;
  int max_depth = 10;
  double min_gain = 0.001;
  double learning_rate = 0.2;
  /// A fit ends after so many rounds, or when `patience` rounds have not made the training loss
  /// smaller by `min_improvement` of itself.
  int max_rounds = 10000;
  int patience = 50;
  double min_improvement = 0.001;
  uint64_t seed = 43;
};

/// Boosted regression trees on normalized throughput (Chen and Guestrin 2016; as a cost model
/// Chen et al. 2018), trained by the PackSum objective.
///
/// Training and prediction run on one thread, so that the same samples always give the same
/// trees: XGBoost's sums depend on how rows are distributed to threads.
class ThroughputTrees {
 public:
  explicit ThroughputTrees(const BoostingOptions& options) : options_(options) {}

  /// False before the first fit: there is nothing to predict with.
  bool fitted() const { return booster_.has_value(); }
  int rounds() const { return booster_ ? booster_->rounds() : 0; }

  /// Grows all trees again on these samples.
  void Fit(std::span<const Sample> samples);
  /// Keeps the trees and adds up to `rounds` that correct them on these samples.
  void Extend(std::span<const Sample> samples, int rounds);
  /// One score per program; 0 for a program without stores.
  std::vector<double> Predict(std::span<const feature::FeatureMatrix* const> programs) const;

  /// The columns that vary, of each program's rows.
  EncodedRows UsedColumns(std::span<const feature::FeatureMatrix* const> programs) const;
  /// What the splits at each of these columns gained in all; after a fit.
  std::vector<double> ColumnGains() const;

  /// Empty before the first fit.
  std::string Save() const;
  /// Takes over saved trees, which must have been grown on the same encoding, or says what is
  /// wrong with the bytes and changes nothing.
  Status Load(std::string_view bytes);

 private:
  void Boost(std::span<const Sample> samples, const EncodedRows& encoded, int rounds);
  std::vector<float> SelectColumns(const EncodedRows& encoded) const;
  DenseRows Shape(const std::vector<float>& selected) const;
  Booster::Parameters Parameters() const;
  std::string EncodingName() const;

  BoostingOptions options_;
  std::vector<int> columns_;  ///< those that varied among the samples fitted; trees see no others
  std::optional<Booster> booster_;
};

}  // namespace bayloom::cost

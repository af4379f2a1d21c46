#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cost/booster.h"
#include "bayloom/cost/sample.h"

namespace bayloom {

/// How trees are grown. Depth, gain and learning rate are MetaSchedule's.
struct TreeOptions {
  int max_depth = 10;
  double min_gain = 0.001;
  double learning_rate = 0.2;
  /// A fit ends after so many rounds, or `patience` rounds after the training loss was least.
  int max_rounds = 10000;
  int patience = 50;
  uint64_t seed = 43;
};

/// Boosted regression trees on normalized throughput (Chen and Guestrin 2016; as a cost model
/// Chen et al. 2018): a program's score is the sum of its rows' predictions (PackSum). Beside a
/// row's features the trees see how many rows the program has and which of them this is; without
/// it the sum's share of each row is anybody's guess.
///
/// Training and prediction run on one thread, so that the same samples always give the same
/// trees: XGBoost's sums depend on how rows are dealt to threads.
class ThroughputTrees {
 public:
  explicit ThroughputTrees(const TreeOptions& options) : options_(options) {}

  /// False before the first fit: there is nothing to predict with.
  bool fitted() const { return booster_.has_value(); }
  int rounds() const { return booster_ ? booster_->rounds() : 0; }

  /// Grows all trees anew on these samples.
  void Fit(std::span<const Sample> samples);
  /// Keeps the trees and adds up to `rounds` that correct them on these samples.
  void Extend(std::span<const Sample> samples, int rounds);
  /// One score per program.
  std::vector<double> Predict(std::span<const FeatureMatrix* const> programs) const;

  /// Empty before the first fit.
  std::string Save() const;
  /// Takes over saved trees, or says what is wrong with the bytes and changes nothing.
  Status Load(std::string_view bytes);

 private:
  void Boost(std::span<const Sample> samples, int rounds);
  std::vector<float> RowsOf(std::span<const Sample> samples) const;
  void AppendRows(const FeatureMatrix& program, std::vector<float>& rows) const;
  DenseRows Shape(const std::vector<float>& rows) const;
  Booster::Parameters Parameters() const;

  TreeOptions options_;
  std::vector<int> columns_;  ///< those that varied among the samples fitted; trees see no others
  std::optional<Booster> booster_;
};

}  // namespace bayloom

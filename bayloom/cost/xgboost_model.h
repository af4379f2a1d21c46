#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/cost/booster.h"
#include "bayloom/cost/cost_model.h"

namespace bayloom {

struct XgboostOptions {
  uint64_t seed = 43;
  /// Scores are random until so many samples are known: trees grown on fewer mislead.
  int random_until = 64;

  // Trees. Depth, gain and learning rate are MetaSchedule's.
  int max_depth = 10;
  double min_gain = 0.001;
  double learning_rate = 0.2;
  /// A fit ends after so many rounds, or `patience` rounds after the training loss was least.
  int max_rounds = 10000;
  int patience = 50;

  /// All trees are grown anew once the samples are more by this share than at the last fit. In
  /// between, every batch adds `rounds_per_batch` trees to them, fitted to all samples.
  double refit_growth = 0.2;
  int rounds_per_batch = 10;
};

/// Boosted regression trees on normalized throughput (Chen and Guestrin 2016; as a cost model
/// Chen et al. 2018): a program's score is the sum of its rows' predictions (PackSum). Beside a
/// row's features the trees see how many rows the program has and which of them this is; without
/// it the sum's share of each row is anybody's guess.
///
/// Training and prediction run on one thread, so that a seed always gives the same model:
/// XGBoost's sums depend on how rows are dealt to threads.
class XgboostModel final : public CostModel {
 public:
  explicit XgboostModel(XgboostOptions options = {});

  std::vector<double> Predict(std::span<const FeatureMatrix* const> programs) override;
  BatchMetrics Update(std::span<const Sample> batch) override;

  /// Samples learnt so far.
  int samples() const { return static_cast<int>(samples_.size()); }
  /// Trees in use; 0 while scores are random.
  int rounds() const { return booster_ ? booster_->rounds() : 0; }

  /// The trees as bytes, without the samples. Empty while scores are random.
  std::string Save() const;
  /// Takes over saved trees. They score until this model has grown its own.
  Status Load(std::string_view bytes);

 private:
  void Fit();
  void Extend();
  void Boost(int rounds);
  std::vector<double> Labels() const;
  std::vector<int> RowCounts() const;
  std::vector<int> VaryingColumns() const;
  std::vector<float> TrainingRows() const;
  void AppendRows(const FeatureMatrix& program, std::vector<float>& rows) const;
  DenseRows Shape(const std::vector<float>& rows) const;
  Booster::Parameters TreeParameters() const;

  XgboostOptions options_;
  RandomStream random_;
  TaskBests bests_;
  std::vector<Sample> samples_;
  int fitted_samples_ = 0;    ///< at the last fit from scratch
  std::vector<int> columns_;  ///< those that vary among the samples fitted; trees see no others
  std::optional<Booster> booster_;
};

}  // namespace bayloom

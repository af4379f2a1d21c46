// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>

#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/throughput_trees.h"

namespace bayloom::cost {
namespace {

/// TenSet's (Zheng et al. 2021) for models that are trained once.
BoostingOptions OptionsFor(uint64_t seed) {
  BoostingOptions options;
  options.max_depth = 6;
  options.min_gain = 0.003;
  options.max_rounds = 300;
  options.seed = seed;
  return options;
}

class TreesModel final : public ThroughputModel {
 public:
  explicit TreesModel(uint64_t seed) : trees_(OptionsFor(seed)) {}

  std::string name() const override { return "xgboost"; }
  void Fit(std::span<const Sample> samples) override { trees_.Fit(samples); }
  bool fitted() const override { return trees_.fitted(); }
  std::vector<double> Predict(
      std::span<const feature::FeatureMatrix* const> programs) const override {
    return trees_.Predict(programs);
  }
  /// The columns that trees look at, the longer the more they gained by it.
  EncodedRows Represent(std::span<const feature::FeatureMatrix* const> programs) const override {
    EncodedRows rows = trees_.UsedColumns(programs);
    std::vector<float> scales;
    for (const double gain : trees_.ColumnGains()) {
      scales.push_back(static_cast<float>(std::sqrt(gain)));
    }
    for (size_t i = 0; i < rows.values.size(); ++i) rows.values[i] *= scales[i % rows.columns];
    return rows;
  }
  std::string Save() const override { return trees_.Save(); }
  Status Load(std::string_view bytes) override { return trees_.Load(bytes); }

 private:
  ThroughputTrees trees_;
};

}  // namespace

std::unique_ptr<ThroughputModel> MakeTreesModel(uint64_t seed) {
  return std::make_unique<TreesModel>(seed);
}

}  // namespace bayloom::cost

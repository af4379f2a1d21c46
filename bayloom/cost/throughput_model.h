// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cost/encoding.h"
#include "bayloom/cost/sample.h"

namespace bayloom::cost {

/// A model of relative throughput that is trained once, on many tasks, and then used for others.
/// After a fit it is only read, by one thread at a time.
class ThroughputModel {
 public:
  virtual ~ThroughputModel() = default;
  virtual std::string name() const = 0;

  /// Learns from the samples alone; what was learnt before is dropped. The same samples in the same
  /// order give the same model.
  virtual void Fit(std::span<const Sample> samples) = 0;
  /// False before the first fit: there is nothing to predict with.
  virtual bool fitted() const = 0;
  /// One score per program: about the task's best time over the program's time.
  virtual std::vector<double> Predict(
      std::span<const feature::FeatureMatrix* const> programs) const = 0;
  /// One row per program; programs that are alike to the model have rows that are close.
  virtual EncodedRows Represent(std::span<const feature::FeatureMatrix* const> programs) const = 0;

  virtual std::string Save() const = 0;
  /// Takes over what Save gave, or says what is wrong with it and changes nothing.
  virtual Status Load(std::string_view bytes) = 0;
};

/// The names CreateThroughputModel understands.
std::vector<std::string> ThroughputModelNames();
/// Throws InputError for a name it does not know.
std::unique_ptr<ThroughputModel> CreateThroughputModel(const std::string& name, uint64_t seed);

/// "xgboost": ThroughputTrees with TenSet's settings: 300 rounds, depth 6.
std::unique_ptr<ThroughputModel> MakeTreesModel(uint64_t seed);
/// "mlp": a SegmentNetwork on the stores' features, trained to rank (LambdaRank), its scores then
/// brought to the scale of throughputs by a line.
std::unique_ptr<ThroughputModel> MakeMlpModel(uint64_t seed);
/// "mlp-squared": the same trained on the squared error.
std::unique_ptr<ThroughputModel> MakeSquaredMlpModel(uint64_t seed);

}  // namespace bayloom::cost

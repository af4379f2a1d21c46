// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/surrogate.h"

#include <utility>

#include "bayloom/model/incremental_predictor.h"

namespace bayloom::model {
namespace {

class PredictedRows final : public IncrementalPredictor {
 public:
  explicit PredictedRows(RowMatrix rows) : rows_(std::move(rows)) {}
  void Predict(const Surrogate& surrogate, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) override {
    surrogate.Predict(rows_, mean, variance);
  }

 private:
  RowMatrix rows_;
};

}  // namespace

std::unique_ptr<IncrementalPredictor> Surrogate::TrackPredictions(RowMatrix rows) const {
  return std::make_unique<PredictedRows>(std::move(rows));
}

}  // namespace bayloom::model

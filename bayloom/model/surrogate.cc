// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/surrogate.h"

#include <utility>

#include "bayloom/model/watched_rows.h"

namespace bayloom::model {
namespace {

class PredictedRows final : public WatchedRows {
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

std::unique_ptr<WatchedRows> Surrogate::Watch(RowMatrix rows) const {
  return std::make_unique<PredictedRows>(std::move(rows));
}

}  // namespace bayloom::model

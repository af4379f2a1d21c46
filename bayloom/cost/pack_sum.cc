// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/pack_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bayloom::cost {
namespace {

double Weight(double label) { return std::max(label, PackSum::kMinWeight); }

}  // namespace

PackSum::PackSum(std::vector<int> rows, std::vector<double> labels, std::vector<double> priors)
    : rows_(std::move(rows)),
      labels_(std::move(labels)),
      priors_(std::move(priors)),
      row_count_(std::accumulate(rows_.begin(), rows_.end(), 0)) {}

template <typename Visitor>
void PackSum::VisitErrors(std::span<const float> predictions, Visitor visit) const {
  int row = 0;
  for (size_t program = 0; program < rows_.size(); ++program) {
    double score = priors_.empty() ? 0 : priors_[program];
    for (int i = 0; i < rows_[program]; ++i) score += predictions[row + i];
    visit(program, row, score - labels_[program]);
    row += rows_[program];
  }
}

double PackSum::Loss(std::span<const float> predictions) const {
  double loss = 0;
  VisitErrors(predictions, [&](size_t program, int, double error) {
    loss += 0.5 * Weight(labels_[program]) * error * error;
  });
  return loss;
}

double PackSum::Rmse(std::span<const float> predictions) const {
  double sum = 0;
  VisitErrors(predictions, [&](size_t, int, double error) { sum += error * error; });
  return rows_.empty() ? 0 : std::sqrt(sum / static_cast<double>(rows_.size()));
}

void PackSum::Gradient(std::span<const float> predictions, double learning_rate,
                       std::span<float> gradient, std::span<float> curvature) const {
  VisitErrors(predictions, [&](size_t program, int first, double error) {
    const double weight = Weight(labels_[program]);
    const double crowd = std::max(1.0, learning_rate * rows_[program]);
    for (int row = first; row < first + rows_[program]; ++row) {
      gradient[row] = static_cast<float>(weight * error);
      curvature[row] = static_cast<float>(weight * crowd);
    }
  });
}

}  // namespace bayloom::cost

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/prediction_memo.h"

#include <algorithm>

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Columns solved at a time: enough for matrix products, few enough for the cache.
constexpr Index kColumnsAtOnce = 128;
/// Room for further observations.
constexpr Index kSpare = 32;
/// What a hash table takes for an entry, beside a configuration's coordinates.
constexpr int64_t kTableNumbers = 12;
/// As of the process itself, in units of its signal.
constexpr double kMinVariance = 1e-8;

}  // namespace

void PredictionMemo::Clear() {
  known_.clear();
  used_ = 0;
  witnesses_.clear();
}

void PredictionMemo::Follow(const model::GaussianProcess& process, size_t met) {
  const std::vector<uint64_t>& observations = process.witnesses();
  const auto end =
      std::mismatch(witnesses_.begin(), witnesses_.end(), observations.begin(), observations.end());
  const Index shared = end.first - witnesses_.begin();
  const auto count = std::ssize(observations);
  const Index length =
      columns_.rows() >= count ? columns_.rows() : Index{count + count / 8 + kSpare};
  const Index most = max_numbers_ / (length + beside_);
  if (shared == 0 || used_ + static_cast<int64_t>(met) > most) {
    Clear();
  } else if (shared < std::ssize(witnesses_)) {
    for (auto& [configuration, column] : known_) {
      if (column.observations <= shared) continue;
      column.observations = shared;
      column.explained = columns_.col(column.place).head(shared).squaredNorm();
    }
  }
  witnesses_ = observations;
  if (columns_.rows() >= count) return;
  if (used_ == 0) {
    columns_.resize(length, std::min(columns_.cols(), most));
  } else {
    columns_.conservativeResize(length, std::max(used_, std::min(columns_.cols(), most)));
  }
}

void PredictionMemo::AddColumns(const model::GaussianProcess& process,
                                std::span<const space::Configuration> configurations,
                                const model::RowMatrix& rows, const std::vector<Index>& fresh,
                                std::vector<Column*>& columns) {
  const Index needed = used_ + std::ssize(fresh), count = std::ssize(witnesses_);
  if (needed > columns_.cols()) {
    const Index most = max_numbers_ / (columns_.rows() + beside_);
    const Index capacity = std::max(needed, std::min(3 * columns_.cols() / 2, most));
    columns_.conservativeResize(Eigen::NoChange, capacity);
  }
  if (columns_.cols() != scaled_.cols()) scaled_.conservativeResize(rows.cols(), columns_.cols());
  for (Index begin = 0; begin < std::ssize(fresh); begin += kColumnsAtOnce) {
    const Index size = std::min(kColumnsAtOnce, std::ssize(fresh) - begin);
    const std::vector<Index> some(fresh.begin() + begin, fresh.begin() + begin + size);
    const MatrixXd scaled = process.Scaled(rows(some, Eigen::all));
    MatrixXd solved = process.Covariance(scaled);
    process.factor().SolveLower(solved);
    scaled_.middleCols(used_, size) = scaled.transpose();
    columns_.block(0, used_, count, size) = solved;
    for (Index i = 0; i < size; ++i) {
      const auto at = static_cast<size_t>(some[static_cast<size_t>(i)]);
      const Column column = {used_ + i, count, solved.col(i).squaredNorm()};
      columns[at] = &known_.emplace(configurations[at], column).first->second;
    }
    used_ += size;
  }
}

/// Element j of a column is (k_j - sum_i<j L_ji v_i) / L_jj.
void PredictionMemo::Extend(const model::GaussianProcess& process, Index from,
                            const std::vector<Column*>& columns) {
  MatrixXd scaled(std::ssize(columns), scaled_.rows());
  for (Index i = 0; i < scaled.rows(); ++i) {
    scaled.row(i) = scaled_.col(columns[static_cast<size_t>(i)]->place).transpose();
  }
  for (Index j = from; j < std::ssize(witnesses_); ++j) {
    const VectorXd factor_row = process.factor().Row(j);
    const VectorXd covariance = process.CovarianceOf(j, scaled);
    for (Index i = 0; i < scaled.rows(); ++i) {
      Column& column = *columns[static_cast<size_t>(i)];
      if (column.observations > j) continue;  // met twice
      auto elements = columns_.col(column.place);
      const double element =
          (covariance[i] - factor_row.head(j).dot(elements.head(j))) / factor_row[j];
      elements[j] = element;
      column.explained += element * element;
      column.observations = j + 1;
    }
  }
}

void PredictionMemo::Predict(const model::GaussianProcess& process,
                             std::span<const space::Configuration> configurations,
                             const model::RowMatrix& rows, VectorXd& mean, VectorXd& variance) {
  const auto coordinates =
      configurations.empty() ? 0 : std::ssize(configurations.front().coordinates);
  beside_ = rows.cols() + coordinates + kTableNumbers;
  Follow(process, configurations.size());
  std::vector<Column*> columns(configurations.size());
  std::vector<Index> fresh;
  std::map<Index, std::vector<Column*>> behind;  // by the elements they have
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto known = known_.find(configurations[i]);
    if (known == known_.end()) {
      fresh.push_back(static_cast<Index>(i));
      continue;
    }
    columns[i] = &known->second;
    const Index elements = known->second.observations;
    if (elements < std::ssize(witnesses_)) behind[elements].push_back(&known->second);
  }
  for (const auto& [from, some] : behind) Extend(process, from, some);
  AddColumns(process, configurations, rows, fresh, columns);

  const VectorXd residuals = process.WhitenedResiduals();
  const double signal = process.hyperparameters().signal_variance;
  mean.resize(rows.rows());
  variance.resize(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    const Column& column = *columns[static_cast<size_t>(i)];
    mean[i] = columns_.col(column.place).head(residuals.size()).dot(residuals) + process.mean();
    variance[i] = std::max(signal - column.explained, signal * kMinVariance);
  }
}

}  // namespace bayloom::optimizer

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/sobol_indices.h"

#include <cmath>

namespace bayloom::model {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

constexpr int kResamples = 200;

RowMatrix WithGroupFrom(const RowMatrix& source, RowMatrix rows, int group,
                        const ColumnGroups& group_of_column) {
  for (Index column = 0; column < rows.cols(); ++column) {
    if (group_of_column[column] == group) rows.col(column) = source.col(column);
  }
  return rows;
}

/// The values of the function at the rows of A, B and AB_g, less their mean.
struct Sample {
  ArrayXd a, b, mixed;

  Sample At(const std::vector<int>& rows) const { return {a(rows), b(rows), mixed(rows)}; }
  double FirstOrder() const { return Share((b * (mixed - a)).mean()); }
  double Total() const { return Share(0.5 * (a - mixed).square().mean()); }

 private:
  double Share(double part) const {
    const double mean = 0.5 * (a.mean() + b.mean());
    const double variance = 0.5 * ((a - mean).square().mean() + (b - mean).square().mean());
    return variance > 0 ? part / variance : 0;
  }
};

SobolIndex Index95(const Sample& sample, base::RandomStream& random) {
  const auto n = static_cast<int>(sample.a.size());
  ArrayXd first(kResamples), total(kResamples);
  std::vector<int> rows(n);
  for (int i = 0; i < kResamples; ++i) {
    for (int& row : rows) row = static_cast<int>(random.UniformInt(n));
    const Sample resampled = sample.At(rows);
    first(i) = resampled.FirstOrder();
    total(i) = resampled.Total();
  }
  auto half_width = [](const ArrayXd& values) {
    return 1.96 * std::sqrt((values - values.mean()).square().sum() / (kResamples - 1));
  };
  return {{sample.FirstOrder(), half_width(first)}, {sample.Total(), half_width(total)}};
}

}  // namespace

std::vector<SobolIndex> SobolIndices(const std::function<VectorXd(const RowMatrix&)>& function,
                                     const RowMatrix& a, const RowMatrix& b,
                                     const ColumnGroups& group_of_column,
                                     base::RandomStream& random) {
  const ArrayXd at_a = function(a), at_b = function(b);
  const double mean = 0.5 * (at_a.mean() + at_b.mean());
  std::vector<SobolIndex> indices;
  for (int group = 0; group < CountGroups(group_of_column); ++group) {
    const ArrayXd mixed = function(WithGroupFrom(b, a, group, group_of_column));
    indices.push_back(Index95({at_a - mean, at_b - mean, mixed - mean}, random));
  }
  return indices;
}

}  // namespace bayloom::model

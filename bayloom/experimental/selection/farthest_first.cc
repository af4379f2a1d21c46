// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/selection/farthest_first.h"

namespace bayloom::experimental {

int FarthestFirst::Farthest() const {
  int farthest = -1;
  for (size_t i = 0; i < distance_.size(); ++i) {
    if (chosen_[i]) continue;
    if (farthest < 0 || distance_[i] > distance_[farthest]) farthest = static_cast<int>(i);
  }
  return farthest;
}

std::vector<int> TraverseFarthestFirst(int items, int anchors, int count, int start,
                                       const std::function<double(int, int)>& to_anchor,
                                       const std::function<double(int, int)>& to_item) {
  FarthestFirst traversal(items);
  for (int anchor = 0; anchor < anchors; ++anchor) {
    traversal.AddAnchor([&](int item) { return to_anchor(item, anchor); });
  }
  std::vector<int> chosen;
  while (static_cast<int>(chosen.size()) < count) {
    const bool begins = anchors == 0 && chosen.empty() && items > 0;
    const int next = begins ? start : traversal.Farthest();
    if (next < 0) break;
    chosen.push_back(next);
    traversal.Choose(next);
    traversal.AddAnchor([&](int item) { return to_item(item, next); });
  }
  return chosen;
}

double SquaredDistance(const cost::DenseRows& a, int row_a, const cost::DenseRows& b, int row_b) {
  const float* x = a.values.data() + static_cast<size_t>(row_a) * a.columns;
  const float* y = b.values.data() + static_cast<size_t>(row_b) * b.columns;
  constexpr int kLanes = 8;  // independent sums, which can be vectors
  float sums[kLanes] = {};
  int column = 0;
  for (; column + kLanes <= a.columns; column += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float difference = x[column + lane] - y[column + lane];
      sums[lane] += difference * difference;
    }
  }
  double sum = 0;
  for (; column < a.columns; ++column) {
    const float difference = x[column] - y[column];
    sum += difference * difference;
  }
  for (const float lane : sums) sum += lane;
  return sum;
}

int MostCentralRow(const cost::DenseRows& rows) {
  std::vector<double> sums(rows.columns);
  for (int row = 0; row < rows.rows; ++row) {
    for (int column = 0; column < rows.columns; ++column) {
      sums[column] += rows.values[static_cast<size_t>(row) * rows.columns + column];
    }
  }
  std::vector<float> mean(rows.columns);
  for (int column = 0; column < rows.columns; ++column) {
    mean[column] = static_cast<float>(sums[column] / rows.rows);
  }
  const cost::DenseRows center = {mean, 1, rows.columns};
  int nearest = 0;
  for (int row = 1; row < rows.rows; ++row) {
    if (SquaredDistance(rows, row, center, 0) < SquaredDistance(rows, nearest, center, 0)) {
      nearest = row;
    }
  }
  return nearest;
}

}  // namespace bayloom::experimental

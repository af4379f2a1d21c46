// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/transfer_data.h"

#include <algorithm>
#include <numeric>

namespace bayloom::optimizer {
namespace {

using Eigen::Index;

/// Half of the places go to the best, the others evenly over the rest.
std::vector<Index> Selected(const Eigen::VectorXd& values, size_t most) {
  std::vector<Index> order(static_cast<size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) { return values[i]; });
  if (order.size() <= most) return order;
  const size_t best = most / 2, others = most - best;
  std::vector<Index> selected(order.begin(), order.begin() + static_cast<Index>(best));
  for (size_t i = 0; i < others; ++i) {
    selected.push_back(order[best + (order.size() - best) * i / others]);
  }
  return selected;
}

}  // namespace

std::vector<model::TaskObservations> TransferData::Thinned() const {
  const size_t share = std::max<size_t>(2, static_cast<size_t>(max_trials) / earlier.size());
  std::vector<model::TaskObservations> thinned;
  for (const model::TaskObservations& task : earlier) {
    const std::vector<Index> selected = Selected(task.values, share);
    thinned.push_back({task.rows(selected, Eigen::all), task.values(selected)});
  }
  return thinned;
}

}  // namespace bayloom::optimizer

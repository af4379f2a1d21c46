// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// Configurations among which a bayesian optimizer looks first: all of a small space, or a random
/// sample of a large one. Encoded once, for they are scored again and again.
class CandidatePool {
 public:
  CandidatePool(std::vector<space::Configuration> configurations, const Features& features);

  int size() const { return static_cast<int>(configurations_.size()); }
  const space::Configuration& configuration(int i) const { return configurations_[i]; }
  std::span<const space::Configuration> configurations() const { return configurations_; }
  const model::RowMatrix& rows() const { return rows_; }

  /// Whether the i-th may still be suggested.
  bool IsFree(int i) const { return is_free_[i] != 0; }
  void Take(const space::Configuration& configuration);
  void Release(const space::Configuration& configuration);

 private:
  std::vector<space::Configuration> configurations_;
  model::RowMatrix rows_;
  std::vector<char> is_free_;
  std::unordered_map<space::Configuration, int> places_;
};

}  // namespace bayloom::optimizer

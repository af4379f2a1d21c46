#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/optimizer/features.h"
#include "bayloom/optimizer/memory.h"

namespace bayloom {

/// Configurations among which a bayesian optimizer looks first: all of a small space, or a random
/// sample of a large one. Encoded once, for they are scored again and again.
class CandidatePool {
 public:
  CandidatePool(std::vector<Configuration> configurations, const Features& features);

  int size() const { return static_cast<int>(configurations_.size()); }
  const Configuration& configuration(int i) const { return configurations_[i]; }
  std::span<const Configuration> configurations() const { return configurations_; }
  const RowMatrix& rows() const { return rows_; }

  /// Whether the i-th may still be suggested.
  bool IsFree(int i) const { return is_free_[i] != 0; }
  void Take(const Configuration& configuration);

 private:
  std::vector<Configuration> configurations_;
  RowMatrix rows_;
  std::vector<char> is_free_;
  std::unordered_map<Configuration, int> places_;
};

}  // namespace bayloom

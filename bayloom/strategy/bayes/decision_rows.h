// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/strategy/fresh_samples.h"

namespace bayloom::strategy {

/// What a surrogate sees of the programs of a task: their decisions, as numbers whose differences
/// mean something, over all design spaces at once.
///
///   perfect tile       logarithms of the factors, as shares of the extent's
///   category           the place in the list, from 0 to 1
///   compute location   whether inline, whether at root, and how deep
///   design space       which one
///
/// Decisions of different design spaces about the same thing (tiles of as many parts, in the same
/// order) share their columns, so that what is learnt in one space is known in the others.
class DecisionRows {
 public:
  explicit DecisionRows(const sketch::SpaceGenerator& space);

  int columns() const { return static_cast<int>(group_of_column_.size()); }
  /// Columns of one decision are a group.
  const std::vector<int>& group_of_column() const { return group_of_column_; }
  /// One row a program.
  model::RowMatrix operator()(std::span<const CandidatePtr> programs) const;

 private:
  struct Place {
    int step;    ///< of the trace
    int column;  ///< the first
  };
  void AddSpace(const tensor::Trace& trace, std::map<std::string, int>& columns);
  int AddGroup(int columns);

  std::vector<std::vector<Place>> places_;  ///< of each design space
  std::vector<int> group_of_column_;
  int groups_ = 0;
};

}  // namespace bayloom::strategy

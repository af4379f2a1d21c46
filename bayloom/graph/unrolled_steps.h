// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayloom::graph {

/// How a recurrent operator or a loop is unrolled.
struct Unrolling {
  int64_t steps;
  bool is_open = false;  ///< the number of steps that are there follows lengths
};

/// How such operators are unrolled in imports of one model for several lengths: in all of them to
/// as many steps as in the first one, so that they are the same network. What steps compute that
/// are not there, no one reads.
class UnrolledSteps {
 public:
  /// The next import visits the operators from the first one on.
  void BeginImport() { next_ = 0; }

  /// Of the operator that is visited now and takes `steps` in this import.
  Unrolling Of(int64_t steps) {
    if (next_ == operators_.size()) operators_.push_back({steps});
    Unrolling& unrolling = operators_[next_++];
    unrolling.is_open |= unrolling.steps != steps;
    return unrolling;
  }

  bool HasOperators() const { return !operators_.empty(); }
  /// Whether an import had another number of steps than the first one.
  bool HasOpen() const { return std::ranges::any_of(operators_, &Unrolling::is_open); }

 private:
  std::vector<Unrolling> operators_;  // in the order of their import
  size_t next_ = 0;
};

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/space.h"

namespace bayloom::optimizer {

/// The configurations that earlier tasks let expect to be good, which are tried before others as
/// long as they are.
class InitialDesign {
 public:
  InitialDesign() = default;
  /// What the numbers that describe earlier tasks predict, if there are any; then what did best.
  /// Else what lies between the tasks' best.
  InitialDesign(const Features& features, const space::Space& space,
                const TransferOptions& transfer, const space::CanonicalForm& canonical,
                base::RandomStream& random);

  int size() const { return static_cast<int>(configurations_.size()); }

  /// The first that is not known yet; null if all are, or they disappoint.
  const space::Configuration* Next(const History& history) const;
  /// How many of the trials were of these.
  int Tried(const History& history) const;
  /// Whether something else is better than these, as far as they were tried: the tasks are not
  /// alike, and the rest is left out.
  bool Disappoints(const History& history) const;
  /// Whether nothing else has been asked for.
  bool LacksComparison(const History& history) const;

 private:
  bool Contains(const space::Configuration& configuration) const;

  std::vector<space::Configuration> configurations_;
};

}  // namespace bayloom::optimizer

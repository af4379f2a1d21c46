// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::strategy {

/// Settings of "bayes", which serve every task.
struct BayesOptions {
  /// Weight of the estimate and its correction beside the score, at first and in the end.
  double first_surrogate_weight = 0.5;
  double last_surrogate_weight = 0;
  /// What a standard deviation is worth, at first and in the end.
  double first_curiosity = 1;
  double last_curiosity = 0.5;
  /// Whether scores of a model that was trained before count from the first trial on. Otherwise
  /// only if they agree with the estimate, as all must of which nothing is known.
  bool trusts_informed_scores = true;
  /// Programs measured after which both have gone half of the way.
  double half_way_at = 32;
  /// Programs bred for each to be chosen.
  int shortlist = 16;
  /// Part of every batch, and of a task's first one, that is drawn from the fresh samples, blind
  /// to what is thought of them.
  double epsilon = 0.05;
  double first_epsilon = 0.125;
  /// Part of every batch but the first that is bred for a compromise with one of the further
  /// objectives, where there are some.
  double compromises = 0.5;
};

}  // namespace bayloom::strategy

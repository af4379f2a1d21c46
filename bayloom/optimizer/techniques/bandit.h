// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <vector>

namespace bayloom::optimizer {

/// Divides trials among arms that now and then find a new best: the sliding-window, area-under-
/// the-curve credit assignment of OpenTuner (Ansel et al. 2014, sec. 3.2.1).
///
/// An arm's score is the area under its curve of successes (later ones weigh more) plus a bonus for
/// being used little, sqrt(2 log(uses of all) / uses).
class AucBandit {
 public:
  explicit AucBandit(int arms, int window = 500, double exploration = 0.05)
      : arms_(arms), window_(window), exploration_(exploration) {}

  /// The arm of highest score; unused ones first, in order.
  int Choose() const;
  void Reward(int arm, bool is_new_best);

  /// In [0, 1]: sum of i * success_i over sum of i, i = 1.. over the arm's uses within the window.
  double Credit(int arm) const;

 private:
  struct Use {
    int arm;
    bool is_new_best;
  };
  int arms_, window_;
  double exploration_;
  std::deque<Use> uses_;
};

}  // namespace bayloom::optimizer

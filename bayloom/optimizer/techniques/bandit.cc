// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/bandit.h"

#include <algorithm>
#include <cmath>

namespace bayloom::optimizer {

int AucBandit::Choose() const {
  int best = 0;
  double best_score = -1;
  for (int arm = 0; arm < arms_; ++arm) {
    const auto uses =
        std::count_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.arm == arm; });
    if (uses == 0) return arm;
    const double bonus = std::sqrt(2 * std::log(uses_.size()) / static_cast<double>(uses));
    const double score = Credit(arm) + exploration_ * bonus;
    if (score > best_score) {
      best_score = score;
      best = arm;
    }
  }
  return best;
}

void AucBandit::Reward(int arm, bool is_new_best) {
  uses_.push_back({arm, is_new_best});
  if (std::ssize(uses_) > window_) uses_.pop_front();
}

double AucBandit::Credit(int arm) const {
  double area = 0, all = 0;
  int use_of_arm = 0;
  for (const Use& use : uses_) {
    if (use.arm != arm) continue;
    ++use_of_arm;
    all += use_of_arm;
    if (use.is_new_best) area += use_of_arm;
  }
  return all > 0 ? area / all : 0;
}

}  // namespace bayloom::optimizer

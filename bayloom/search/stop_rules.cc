// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/stop_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace bayloom::search {

StopRuleWatch::StopRuleWatch(StopRules rules, std::vector<Objective> objectives)
    : rules_(std::move(rules)), target_(rules_.target) {
  for (size_t k = 0; k < target_.size(); ++k) {
    if (objectives[k].maximize) target_[k] = -target_[k];
  }
}

void StopRuleWatch::Add(const std::optional<pareto::Point>& point, bool extends_front) {
  ++since_gain_;
  if (!point) return;
  if (!target_.empty() && std::ranges::equal(*point, target_, std::less_equal())) {
    has_reached_target_ = true;
  }
  const bool is_single = point->size() == 1;
  const bool is_gain =
      !best_ || (is_single ? best_.value() - (*point)[0] > rules_.plateau_gain * std::abs(*best_)
                           : extends_front);
  if (!is_gain) return;
  best_ = (*point)[0];
  since_gain_ = 0;
}

}  // namespace bayloom::search

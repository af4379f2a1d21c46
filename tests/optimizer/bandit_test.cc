// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/bandit.h"

#include <gtest/gtest.h>

namespace bayloom::optimizer {
namespace {

TEST(AucBanditTest, TriesEveryArmFirst) {
  AucBandit bandit(3);
  for (int arm = 0; arm < 3; ++arm) {
    EXPECT_EQ(bandit.Choose(), arm);
    bandit.Reward(arm, false);
  }
}

TEST(AucBanditTest, CreditIsTheWeightedShareOfSuccesses) {
  AucBandit bandit(2);
  for (bool success : {true, false, true, false}) bandit.Reward(1, success);
  EXPECT_DOUBLE_EQ(bandit.Credit(1), (1.0 + 3.0) / (1 + 2 + 3 + 4));
  EXPECT_DOUBLE_EQ(bandit.Credit(0), 0);
}

TEST(AucBanditTest, PrefersTheArmThatSucceedsYetForgetsNone) {
  AucBandit bandit(4);
  int uses[4] = {};
  for (int i = 0; i < 400; ++i) {
    const int arm = bandit.Choose();
    ++uses[arm];
    bandit.Reward(arm, arm == 2 && uses[arm] % 8 == 0);
  }
  for (int arm : {0, 1, 3}) {
    EXPECT_GT(uses[2], 2 * uses[arm]);
    EXPECT_GT(uses[arm], 1);
  }
}

TEST(AucBanditTest, ForgetsWhatFallsOutOfTheWindow) {
  AucBandit bandit(2, 10);
  bandit.Reward(0, true);
  for (int i = 0; i < 10; ++i) bandit.Reward(1, false);
  EXPECT_EQ(bandit.Credit(0), 0);
  EXPECT_EQ(bandit.Choose(), 0);  // unused, as far as it remembers
}

}  // namespace
}  // namespace bayloom::optimizer

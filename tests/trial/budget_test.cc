// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/budget.h"

#include <gtest/gtest.h>

namespace bayloom::trial {
namespace {

TEST(Budget, ARunCanBeResumedThatEndedBeforeItsBudget) {
  for (const StopReason reason : {StopReason::kStopped, StopReason::kLost, StopReason::kGaveUp}) {
    EXPECT_TRUE(CanResume(reason)) << ToString(reason);
  }
  for (const StopReason reason : {StopReason::kTrials, StopReason::kTime, StopReason::kExhausted,
                                  StopReason::kConverged, StopReason::kGain, StopReason::kTarget}) {
    EXPECT_FALSE(CanResume(reason)) << ToString(reason);
  }
}

}  // namespace
}  // namespace bayloom::trial

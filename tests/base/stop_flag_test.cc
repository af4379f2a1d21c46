// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/stop_flag.h"

#include <gtest/gtest.h>

#include <csignal>

namespace bayloom::base {
namespace {

TEST(StopFlag, TheFirstSignalAsksTheSecondEnds) {
  ClearStop();
  CatchStopSignals();
  EXPECT_FALSE(StopRequested());
  std::raise(SIGINT);
  EXPECT_TRUE(StopRequested());
  EXPECT_EXIT(std::raise(SIGINT), testing::KilledBySignal(SIGINT), "");
  ClearStop();
  EXPECT_FALSE(StopRequested());
  RequestStop();
  EXPECT_TRUE(StopRequested());
  ClearStop();
}

TEST(StopFlag, WhoNoticesMakesTheSignalKnown) {
  ClearStop();
  CatchStopSignals();
  std::raise(SIGTERM);
  EXPECT_EQ(NoticedStopSignal(), 0);
  NoticeStop();
  EXPECT_EQ(NoticedStopSignal(), SIGTERM);
  ClearStop();
  EXPECT_EQ(NoticedStopSignal(), 0);
}

}  // namespace
}  // namespace bayloom::base

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session_state.h"

#include <gtest/gtest.h>

namespace bayloom::tuning {
namespace {

TEST(SessionStateTest, ReadsWhatItWrote) {
  SessionState state;
  state.seconds = 12.5;
  state.phases.schedule = 0.25;
  state.phases.measure = 8;
  state.slots = {{3, 16, 6.5}, {4, 7, 12.5}};
  state.weights = {{3, 2}, {4, 1}};
  const auto read = SessionState::Parse(state.ToText());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->seconds, 12.5);
  EXPECT_EQ(read->phases.schedule, 0.25);
  EXPECT_EQ(read->phases.Total(), 8.25);
  EXPECT_EQ(read->trials(), 23);
  EXPECT_EQ(read->slots[1].task, 4);
  EXPECT_EQ(read->slots[1].end, 12.5);
  EXPECT_EQ(read->weights, state.weights);
}

TEST(SessionStateTest, ReadsOlderStatesAndRefusesOthers) {
  const auto older = SessionState::Parse(R"({"seconds": 3, "slots": [[1, 8], [2, 8]]})");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->trials(), 16);
  EXPECT_EQ(older->slots[1].end, 0);
  EXPECT_TRUE(older->weights.empty());
  EXPECT_FALSE(SessionState::Parse(""));
  EXPECT_FALSE(SessionState::Parse("{}"));
  EXPECT_FALSE(SessionState::Parse("[1"));
}

}  // namespace
}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace bayloom::tuning {
namespace {

TEST(SessionStateTest, ReadsWhatItWrote) {
  SessionState state;
  state.seconds = 12.5;
  state.phases.schedule = 0.25;
  state.phases.measure = 8;
  state.slots = {{3, 16, 6.5}, {4, 7, 12.5}};
  state.weights = {{3, 2}, {4, 1}, {5, 0}};
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

TEST(SessionStateTest, RefusesNumbersThatNoSessionWrites) {
  for (const char* text :
       {R"({"seconds":1,"slots":[[1,-5,0],[1,29,0]]})", R"({"seconds":1,"slots":[[]]})",
        R"({"seconds":1,"slots":[[1]]})", R"({"seconds":1,"slots":[7]})",
        R"({"seconds":1,"slots":7})", R"({"seconds":1,"slots":[[1,9223372036854775807,0]]})",
        R"({"seconds":1,"slots":[[1,18446744073709551615,0]]})",
        R"({"seconds":1,"slots":[["1",2,0]]})", R"({"seconds":1,"slots":[[1,2.5,0]]})",
        R"({"seconds":1,"slots":[[1,2,"0"]]})", R"({"seconds":"1","slots":[]})",
        R"({"seconds":null,"slots":[]})", R"({"seconds":1,"slots":[],"phases":{"measure":"long"}})",
        R"({"seconds":1,"slots":[],"weights":[[1]]})",
        R"({"seconds":1,"slots":[],"weights":[[1,-1]]})",
        R"({"seconds":1,"slots":[],"weights":{"1":"x"}})"}) {
    EXPECT_FALSE(SessionState::Parse(text)) << text;
  }
  EXPECT_FALSE(SessionState::Parse(std::string(100'000, '[')));
}

TEST(SessionStateTest, TrialsAreTakenOutOfTheirSlots) {
  SessionState state;
  state.seconds = 5;
  state.slots = {{3, 4, 1}, {4, 1, 2}, {3, 3, 3}};
  record::RunRecord run;
  run.state = state.ToText();
  const std::vector<int64_t> removed = {0, 3, 4, 7, 9};  // 9 came after the last slot
  const auto left = SessionState::Parse(StateWithoutTrials(run, removed));
  ASSERT_TRUE(left);
  ASSERT_EQ(left->slots.size(), 3u);
  EXPECT_EQ(left->slots[0].trials, 2);
  EXPECT_EQ(left->slots[1].trials, 0);
  EXPECT_EQ(left->slots[2].trials, 2);
  EXPECT_EQ(left->slots[2].end, 3);
  run.state = "of another kind";
  EXPECT_EQ(StateWithoutTrials(run, removed), "of another kind");
}

}  // namespace
}  // namespace bayloom::tuning

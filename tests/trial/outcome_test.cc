// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/outcome.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bayloom::trial {
namespace {

TEST(Outcome, VerdictsHaveNamesThatReadBack) {
  for (Verdict verdict : {Verdict::kOk, Verdict::kBuildError, Verdict::kCrash, Verdict::kTimeout,
                          Verdict::kMemory, Verdict::kWrongOutput, Verdict::kInvalidAnswer}) {
    EXPECT_EQ(ParseVerdict(ToString(verdict)), verdict);
  }
  EXPECT_EQ(ToString(Verdict::kWrongOutput), "wrong-output");
  EXPECT_FALSE(ParseVerdict("fine").has_value());
}

TEST(Outcome, AnInfeasibleOutcomeHasNoValue) {
  const Outcome outcome = Outcome::Infeasible(Verdict::kCrash, "signal 11 (SIGSEGV)");
  EXPECT_FALSE(outcome.ok());
  EXPECT_TRUE(std::isnan(outcome.value));
  EXPECT_EQ(outcome.reason, "signal 11 (SIGSEGV)");
}

}  // namespace
}  // namespace bayloom::trial

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/emulated.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "bayloom/target/target_json.h"

namespace bayloom::target {
namespace {

Target OfTriple(const std::string& triple) {
  Target target;
  target.name = "board";
  target.triple = triple;
  target.cpu = "generic";
  return target;
}

TEST(Emulated, IsAnotherTargetOfTheSameKind) {
  for (const char* triple :
       {"aarch64-unknown-linux-gnu", "x86_64-pc-linux-gnu", "aarch64--linux", "aarch64-apple"}) {
    const Target machine = OfTriple(triple), emulated = Emulated(machine);
    EXPECT_FALSE(IsEmulated(machine)) << triple;
    EXPECT_TRUE(IsEmulated(emulated)) << emulated.triple;
    EXPECT_EQ(emulated.kind(), machine.kind()) << emulated.triple;
    EXPECT_NE(HashOf(emulated), HashOf(machine));
    EXPECT_EQ(HashOf(Emulated(emulated)), HashOf(emulated));
  }
  EXPECT_EQ(Emulated(OfTriple("aarch64-unknown-linux-gnu")).triple, "aarch64-emulated-linux-gnu");
  EXPECT_EQ(Emulated(OfTriple("aarch64-unknown-linux-gnu")).name, "board (emulated)");
  EXPECT_FALSE(IsEmulated(OfTriple("emulated")));
  EXPECT_FALSE(IsEmulated(OfTriple("")));
}

TEST(Emulated, IsNotLostInRecords) {
  const Target emulated = Emulated(OfTriple("aarch64-unknown-linux-gnu"));
  EXPECT_TRUE(IsEmulated(TargetFromJson(TargetToJson(emulated))));
}

}  // namespace
}  // namespace bayloom::target

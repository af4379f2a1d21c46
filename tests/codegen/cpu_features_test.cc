// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "bayloom/base/result.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/target/named_target.h"

namespace bayloom::codegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CpuFeaturesTest, ThisProcessorHasWhatItsOwnTargetNeeds) {
  const target::Target host = HostTarget();
  EXPECT_EQ(MissingFeature(host), std::nullopt);
  EXPECT_FALSE(RequiredFeatures(host).empty());
}

bool HasName(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

TEST(CpuFeaturesTest, AgreesWithTheHostsFeatureString) {
  std::istringstream features(HostTarget().features);
  for (std::string feature; std::getline(features, feature, ',');) {
    const std::string name = feature.substr(1);
    if (!HasName(KnownFeatures(HostKind()), name)) continue;
    EXPECT_EQ(bayloom_cpu_has(name.c_str()) != 0, feature[0] == '+') << feature;
  }
}

TEST(CpuFeaturesTest, ProcessorsCanBeAskedForAllThatLevelsHave) {
  for (std::string_view name : target::LevelNames()) {
    const target::Target level = TargetNamed(std::string(name), 1);
    EXPECT_EQ(ShippedTarget(level).features, level.features) << name;
  }
}

TEST(CpuFeaturesTest, WhatNobodyCanAskForIsLeftOut) {
  target::Target target;
  target.triple = "x86_64-pc-linux-gnu";
  target.features = "+sse2,+mwaitx,-avx,+avx2";
  EXPECT_EQ(ShippedTarget(target).features, "+sse2,-mwaitx,-avx,+avx2");
  EXPECT_THAT(RequiredFeatures(target), ElementsAre("avx2", "sse2"));
  EXPECT_EQ(bayloom_cpu_has("sse2,mwaitx"), 0);
  EXPECT_EQ(bayloom_cpu_has(""), 1);
}

TEST(CpuFeaturesTest, TargetsHaveNames) {
  EXPECT_EQ(TargetNamed("native", 3).cores, 3);
  EXPECT_EQ(TargetNamed("x86-64-v3").vector_bytes, 32);
  try {
    TargetNamed("aba\ncus");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no target 'aba\\ncus'; there are native, x86-64-v2, x86-64-v3, x86-64-v4, "
        "aarch64-linux-gnu[:PROCESSOR], cuda[:sm_NN], and names of x86-64 processors");
  }
}

TEST(CpuFeaturesTest, ProcessorsOfX86HaveTheirFeatures) {
  const target::Target rapids = TargetNamed("sapphirerapids", 3);
  EXPECT_EQ(rapids.kind(), target::TargetKind::kX86_64);
  EXPECT_EQ(rapids.cores, 3);
  EXPECT_EQ(rapids.vector_bytes, 64);
  EXPECT_THAT(RequiredFeatures(rapids), ::testing::IsSupersetOf({"amx-tile", "amx-int8", "amx-bf16",
                                                                 "avx512vnni", "avxvnni"}));
  EXPECT_EQ(ShippedTarget(rapids).features, rapids.features);
  const target::Target haswell = TargetNamed("haswell", 1);
  EXPECT_EQ(haswell.vector_bytes, 32);
  EXPECT_THAT(RequiredFeatures(haswell), ::testing::Not(::testing::Contains("avx512f")));
  EXPECT_THROW(TargetNamed("i486", 1), InputError);
}

}  // namespace
}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/aarch64_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <memory>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AArch64TargetTest, NeedsNoMoreThanEveryProcessorHas) {
  const target::Target target = TargetNamed("aarch64-linux-gnu", 3);
  EXPECT_EQ(target.kind(), target::TargetKind::kAArch64);
  EXPECT_EQ(target.name, "aarch64-linux-gnu");
  EXPECT_EQ(target.cpu, "generic");
  EXPECT_EQ(target.cores, 3);
  EXPECT_EQ(target.vector_bytes, 16);
  EXPECT_THAT(RequiredFeatures(target), ElementsAre("fp-armv8", "neon"));
}

TEST(AArch64TargetTest, AProcessorHasItsFeatures) {
  const target::Target n1 = TargetNamed("aarch64-linux-gnu:neoverse-n1", 1);
  EXPECT_EQ(n1.name, "aarch64-linux-gnu:neoverse-n1");
  EXPECT_EQ(n1.cpu, "neoverse-n1");
  EXPECT_EQ(n1.l2_bytes, 1 << 20);
  EXPECT_THAT(RequiredFeatures(n1), AllOf(Contains("dotprod"), Contains("fullfp16"),
                                          Not(Contains("i8mm")), Not(Contains("sve"))));
  EXPECT_THAT(RequiredFeatures(TargetNamed("aarch64-linux-gnu:neoverse-v1", 1)),
              AllOf(Contains("i8mm"), Contains("bf16"), Contains("sve"), Not(Contains("sve2"))));
  const target::Target m1 = TargetNamed("aarch64-linux-gnu:apple-m1", 1);  // LLVM's apple-a14
  EXPECT_THAT(RequiredFeatures(m1), AllOf(Contains("dotprod"), Not(Contains("sve"))));
  EXPECT_EQ(m1.name, "aarch64-linux-gnu:apple-m1");
  EXPECT_EQ(m1.l1_bytes, 128 << 10);
  EXPECT_THAT(RequiredFeatures(TargetNamed("aarch64-linux-gnu:cortex-a53", 1)),
              ElementsAre("fp-armv8", "neon"));
}

TEST(AArch64TargetTest, NoFeatureIsLostWhenCodeIsShipped) {
  for (const char* name : {"aarch64-linux-gnu", "aarch64-linux-gnu:cortex-x2"}) {
    const target::Target target = TargetNamed(name, 1);
    EXPECT_EQ(ShippedTarget(target).features, target.features);
  }
}

TEST(AArch64TargetTest, AnUnknownProcessorIsAnErrorThatNamesSimilarOnes) {
  const auto error_of = [](const std::string& name) -> std::string {
    try {
      TargetNamed(name, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string typo = error_of("aarch64-linux-gnu:cortex-a7\n6");
  EXPECT_THAT(typo, HasSubstr("no processor 'cortex-a7\\n6' of aarch64-linux-gnu"));
  EXPECT_THAT(typo, HasSubstr("cortex-a76"));
  EXPECT_THAT(typo, Not(HasSubstr("\n")));
  EXPECT_THAT(error_of("aarch64-linux-gnu:Neoverse_N1"), HasSubstr("neoverse-n1"));
  EXPECT_THAT(error_of("aarch64-linux-gnu:"), HasSubstr("similar names are "));
  EXPECT_THAT(error_of("aarch64-linux-gnu-cortex-a76"), HasSubstr("no target"));
}

TEST(AArch64TargetTest, CodeForItDoesNotRunOnOtherMachines) {
  const target::Target target = TargetNamed("aarch64-linux-gnu", 1);
  if (HostKind() == target::TargetKind::kAArch64) GTEST_SKIP() << "this machine is one";
  EXPECT_EQ(MissingFeature(target), "aarch64");
}

/// A name that LLVM does not have would never be asked for.
TEST(AArch64TargetTest, FeaturesThatProcessorsAreAskedForHaveLlvmsNames) {
  InitializeLlvm();
  for (const char* triple : {"x86_64-pc-linux-gnu", "aarch64-unknown-linux-gnu"}) {
    std::string problem;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, problem);
    ASSERT_NE(found, nullptr) << problem;
    const std::unique_ptr<llvm::MCSubtargetInfo> description(
        found->createMCSubtargetInfo(triple, "", ""));
    std::set<std::string_view> names;
    for (const auto& feature : description->getAllProcessorFeatures()) names.insert(feature.Key);
    target::Target target;
    target.triple = triple;
    EXPECT_FALSE(KnownFeatures(target.kind()).empty());
    for (const std::string_view feature : KnownFeatures(target.kind())) {
      EXPECT_TRUE(names.contains(feature)) << triple << " " << feature;
    }
  }
}

}  // namespace
}  // namespace bayloom::codegen

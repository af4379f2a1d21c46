// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/resource_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::measure {
namespace {

codegen::GpuLaunch Launch(int threads, int registers, int64_t spill_bytes = 0) {
  codegen::GpuLaunch launch;
  launch.threads = threads;
  launch.registers = registers;
  launch.spill_bytes = spill_bytes;
  launch.shared_bytes = 1024;
  return launch;
}

TEST(KernelUseTest, IsTheMostOfTheKernels) {
  const ResourceUsage use = UseOf({Launch(32, 200), Launch(1024, 40, 24)});
  EXPECT_EQ(use.registers, 200);
  EXPECT_EQ(use.spill_bytes, 24);
  EXPECT_EQ(use.shared_bytes, 1024);
  EXPECT_EQ(use.registers_of_block, 1024 * 40);
  EXPECT_EQ(UseOf({}), ResourceUsage());
}

TEST(KernelUseTest, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(RefusalOf(UseOf({Launch(1024, 64)})));
  EXPECT_FALSE(RefusalOf(UseOf({Launch(512, 128)})));
  EXPECT_FALSE(RefusalOf(UseOf({Launch(256, 255)})));
  EXPECT_THAT(*RefusalOf(UseOf({Launch(1024, 65)})), ::testing::HasSubstr("needs 65 registers"));
  EXPECT_THAT(*RefusalOf(UseOf({Launch(512, 129)})), ::testing::HasSubstr("needs 129 registers"));
  EXPECT_FALSE(RefusalOf(UseOf({Launch(256, 128, 128)})));
  EXPECT_EQ(*RefusalOf(UseOf({Launch(256, 128, 256)})), "spills 256 bytes");
  EXPECT_FALSE(RefusalOf(UseOf({Launch(1024, 0)})));  // not known
}

}  // namespace
}  // namespace bayloom::measure

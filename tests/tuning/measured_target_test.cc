// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_target.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "tests/temporary_folder.h"

namespace bayloom::tuning {
namespace {

const auto kIgnore = [](const std::string&) {};

TEST(MeasuredTarget, IsMeasuredOnceAndKept) {
  const TemporaryFolder folder;
  record::Store store(folder / "records.db");
  const target::Target first = MeasuredTarget(store, codegen::HostTarget(1), kIgnore);
  ASSERT_TRUE(first.machine);
  EXPECT_EQ(MeasuredTarget(store, codegen::HostTarget(1), kIgnore).machine, first.machine);
  EXPECT_EQ(store.Targets().size(), 1U);
}

TEST(MeasuredTarget, OfADatabaseWithoutMachineStaysAsItWas) {
  const TemporaryFolder folder;
  record::Store store(folder / "records.db");
  store.AddTarget(codegen::HostTarget(1));
  EXPECT_FALSE(MeasuredTarget(store, codegen::HostTarget(1), kIgnore).machine);
}

}  // namespace
}  // namespace bayloom::tuning

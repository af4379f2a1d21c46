#include "bayloom/tuning/measured_target.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/host.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

TEST(MeasuredTarget, IsMeasuredOnceAndKept) {
  const TemporaryFolder folder;
  Store store(folder / "records.db");
  const Target first = MeasuredTarget(store, HostTarget(1));
  ASSERT_TRUE(first.machine);
  EXPECT_EQ(MeasuredTarget(store, HostTarget(1)).machine, first.machine);
  EXPECT_EQ(store.Targets().size(), 1U);
}

TEST(MeasuredTarget, OfADatabaseWithoutMachineStaysAsItWas) {
  const TemporaryFolder folder;
  Store store(folder / "records.db");
  store.AddTarget(HostTarget(1));
  EXPECT_FALSE(MeasuredTarget(store, HostTarget(1)).machine);
}

}  // namespace
}  // namespace bayloom
